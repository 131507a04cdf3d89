//! The usual passes over a tensor graph. Each runs before those that profit from it.

use fedround_ir::tensor::{Graph, GraphError, Op};

use super::registry::replace;
use super::transform::{
    ConvAlgorithm, InputSource, Leaf, Looped, batch, convolutions, elide_zero_carry,
    parametrize_constants,
};
use crate::error::PassError;
use crate::manager::PassManager;

/// The passes that run in turns until nothing changes.
const CLEAN_UP: [&str; 3] = ["fold", "cse", "dce"];

/// Folds constants, shares equal nodes and drops unused ones until nothing changes.
///
/// # Errors
///
/// A pass broke an invariant of the graph: a bug in fedround, not in the program.
pub fn optimize(graph: Graph) -> Result<Graph, PassError> {
    optimize_with(graph, "graph", &mut PassManager::new())
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

/// Runs a pass whose arguments are known here; gives whether anything changed.
fn rebuild(
    manager: &mut PassManager,
    pass: &'static str,
    name: &str,
    graph: &mut Graph,
    work: impl FnOnce(&Graph) -> Result<Graph, GraphError>,
) -> Result<bool, PassError> {
    manager.apply(pass, name, graph, |graph| replace(graph, pass, work))
}

/// Gives whether anything changed.
fn clean_up(graph: &mut Graph, name: &str, manager: &mut PassManager) -> Result<bool, PassError> {
    manager.run_in_turns(&CLEAN_UP, name, graph)
}

/// Batches a graph over `clients` and cleans up. The batching rules leave views around each layer, which
/// sink until they meet and cancel. Returns the ops that have no batching rule.
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
    rebuild(manager, "batch-clients", name, graph, |graph| {
        let batched = batch(graph, clients, inputs)?;
        looped = batched.looped;
        Ok(batched.graph)
    })?;
    while manager.run_all(&["sink-views"], name, graph)? | clean_up(graph, name, manager)? {}
    Ok(looped)
}

/// `elide-zero-carry` under a pass manager of the caller's, and cleans up; the graph is shown under
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
    let changed = rebuild(manager, "elide-zero-carry", name, graph, |graph| {
        elide_zero_carry(graph, zero)
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
        changed |= rebuild(manager, pass, name, graph, |graph| {
            convolutions(graph, |op, shapes| match choose(op, shapes) {
                chosen if chosen == form => form,
                _ => ConvAlgorithm::Grouped,
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
) -> Result<Vec<InputSource>, PassError> {
    let mut supplies = Vec::new();
    rebuild(manager, "parametrize-constants", name, graph, |graph| {
        let (hoisted, found) = parametrize_constants(graph)?;
        supplies = found;
        Ok(hoisted)
    })?;
    Ok(supplies)
}

/// Computes on what is repeated before it is repeated, joins products that are added up, fuses parameter
/// updates and then chains of elementwise ops, and shortens the lives of gradients and activations, for
/// devices whose backend does not fuse.
///
/// # Errors
///
/// As [`optimize`].
pub fn fuse_with(
    graph: &mut Graph,
    name: &str,
    manager: &mut PassManager,
) -> Result<(), PassError> {
    let passes = [
        "lift-expands",
        "known-sums",
        "join-products",
        "fuse",
        "fuse-elementwise",
        "plane-sums",
        "early-updates",
        "rematerialize",
    ];
    manager.run_all(&passes, name, graph).map(drop)
}

/// Before constants become inputs: prepares losses for devices whose backend fuses, and cleans up.
///
/// # Errors
///
/// As [`optimize`].
pub fn one_hot_with(
    graph: &mut Graph,
    name: &str,
    manager: &mut PassManager,
) -> Result<(), PassError> {
    if manager.run_all(&["one-hot"], name, graph)? {
        clean_up(graph, name, manager)?;
    }
    Ok(())
}

/// Prepares a graph for devices whose backend fuses what follows one another.
///
/// # Errors
///
/// As [`optimize`].
pub fn order_for_fusion_with(
    graph: &mut Graph,
    name: &str,
    manager: &mut PassManager,
) -> Result<(), PassError> {
    // What `recompute` repeats, `cse` would compute once again.
    let passes = [
        "scale-first",
        "join-sums",
        "channel-rows",
        "known-sums",
        "channel-sums",
        "sink-reshapes",
        "cse",
        "recompute",
        "fusion-order",
    ];
    manager.run_all(&passes, name, graph).map(drop)
}
