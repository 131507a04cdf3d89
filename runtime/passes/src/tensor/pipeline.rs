//! The usual passes over a tensor graph, in the order in which they help each other.

use fedround_ir::tensor::{Graph, Op};

use super::registry::replace;
use super::transform::{
    ConvAlgorithm, Leaf, Looped, Supply, batch, convolutions, elide_zero_carry,
    parametrize_constants,
};
use crate::error::PassError;
use crate::manager::{PassManager, Request};

/// What runs in turns until nothing changes.
const CLEAN_UP: [&str; 3] = ["fold", "cse", "dce"];

/// Folds constants, shares equal nodes and drops unused ones until nothing changes.
///
/// # Errors
///
/// A pass broke an invariant of the graph: a bug in fedround, not in the program.
pub fn optimize(graph: Graph) -> Result<Graph, PassError> {
    optimize_with(graph, "graph", &mut PassManager::from_env()?)
}

/// [`optimize`] under a pass manager of the caller's; the graph is shown under `name`.
///
/// # Errors
///
/// As [`optimize`].
pub fn optimize_with(
    mut graph: Graph,
    name: &str,
    manager: &mut PassManager,
) -> Result<Graph, PassError> {
    clean_up(&mut graph, name, manager)?;
    Ok(graph)
}

/// Gives whether anything changed.
fn clean_up(graph: &mut Graph, name: &str, manager: &mut PassManager) -> Result<bool, PassError> {
    let mut any = false;
    loop {
        let mut changed = false;
        for pass in CLEAN_UP {
            changed |= manager.run(&Request::named(pass)?, name, graph)?;
        }
        if !changed {
            return Ok(any);
        }
        any = true;
    }
}

/// Batches a graph over `clients` and cleans up: views that the batching rules left around each
/// layer sink until they meet. Gives the ops that have no batching rule.
///
/// # Errors
///
/// As [`optimize`].
pub fn batch_clients_with(
    graph: &mut Graph,
    clients: usize,
    inputs: &[bool],
    name: &str,
    manager: &mut PassManager,
) -> Result<Vec<Looped>, PassError> {
    let mut looped = Vec::new();
    manager.apply("batch-clients", name, graph, |graph| {
        replace(graph, "batch-clients", |graph| {
            let batched = batch(graph, clients, inputs)?;
            looped = batched.looped;
            Ok(batched.graph)
        })
    })?;
    while manager.run(&Request::named("sink-views")?, name, graph)?
        | clean_up(graph, name, manager)?
    {}
    Ok(looped)
}

/// [`elide-zero-carry`](fn@elide_zero_carry) under a pass manager of the caller's, and cleans up; the graph is shown under
/// `name`.
///
/// # Errors
///
/// As [`optimize`].
pub fn elide_zero_carry_with(
    graph: &mut Graph,
    zero: &[Leaf],
    name: &str,
    manager: &mut PassManager,
) -> Result<(), PassError> {
    let changed = manager.apply("elide-zero-carry", name, graph, |graph| {
        replace(graph, "elide-zero-carry", |graph| {
            elide_zero_carry(graph, zero)
        })
    })?;
    if changed {
        clean_up(graph, name, manager)?;
    }
    Ok(())
}

/// [`convolutions`](fn@convolutions) under a pass manager of the caller's, a pass for each form, and
/// cleans up; the graph is shown under `name`.
///
/// # Errors
///
/// As [`optimize`].
pub fn convolutions_with(
    graph: &mut Graph,
    name: &str,
    manager: &mut PassManager,
    mut choose: impl FnMut(&Op, [&[usize]; 2]) -> ConvAlgorithm,
) -> Result<(), PassError> {
    let mut changed = false;
    for (form, pass) in [
        (ConvAlgorithm::Unfold, "unfold-convolutions"),
        (ConvAlgorithm::Split, "split-convolutions"),
    ] {
        changed |= manager.apply(pass, name, graph, |graph| {
            replace(graph, pass, |graph| {
                convolutions(graph, |op, shapes| match choose(op, shapes) {
                    chosen if chosen == form => form,
                    _ => ConvAlgorithm::Grouped,
                })
            })
        })?;
    }
    if changed {
        clean_up(graph, name, manager)?;
    }
    Ok(())
}

/// [`parametrize-constants`](fn@parametrize_constants) under a pass manager of the caller's; the graph is shown under `name`.
///
/// # Errors
///
/// As [`optimize`].
pub fn parametrize_constants_with(
    graph: &mut Graph,
    name: &str,
    manager: &mut PassManager,
) -> Result<Vec<Supply>, PassError> {
    let mut supplies = Vec::new();
    manager.apply("parametrize-constants", name, graph, |graph| {
        replace(graph, "parametrize-constants", |graph| {
            let (hoisted, found) = parametrize_constants(graph)?;
            supplies = found;
            Ok(hoisted)
        })
    })?;
    Ok(supplies)
}

/// Fuses for a device whose backend does not: updates, then chains of elementwise ops.
///
/// # Errors
///
/// As [`optimize`].
pub fn fuse_with(
    graph: &mut Graph,
    name: &str,
    manager: &mut PassManager,
) -> Result<(), PassError> {
    for pass in ["fuse", "fuse-elementwise"] {
        manager.run(&Request::named(pass)?, name, graph)?;
    }
    Ok(())
}
