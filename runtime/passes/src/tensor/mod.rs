//! From a linked fed program to optimised tensor graphs.
//!
//! - [`schedule`](mod@schedule) splits a linked module into control ops and straight-line compute segments;
//! - [`lower`](mod@lower) turns a segment into a tensor graph, with models and losses traced by a [`Frontend`];
//! - [`pool_first`](mod@pool_first) rectifies after pooling in what was traced;
//! - [`grad`](mod@grad) appends reverse-mode gradients, one rule for each op in [`rules`];
//! - [`fold`], [`cse`] and [`dce`] clean the graph up; [`optimize`] runs them;
//! - [`elide-zero-carry`](mod@idle) hands on what a loop leaves at zero;
//! - [`parametrize-constants`](mod@hoist) makes inputs of constants and random draws;
//! - [`convolutions`](mod@convolutions) gives grouped convolutions another form;
//! - [`mixed_precision`](mod@mixed_precision) has products read 16-bit floats;
//! - [`coverage`](mod@coverage) says what they do with each op;
//! - [`fuse`](mod@fuse) makes one op of each parameter update, for devices without fusion;
//! - [`cost`](mod@cost) counts operations, memory traffic and peak memory, [`runs`](mod@runs) how
//!   often a round runs a segment.

pub mod batch;
mod control;
pub mod convolutions;
pub mod cost;
pub mod coverage;
pub mod cse;
pub mod dce;
pub mod elide_zero_carry;
pub mod fold;
mod frontend;
pub mod fuse;
pub mod fuse_elementwise;
pub mod grad;
mod liveness;
pub mod lower;
pub mod mixed_precision;
pub mod parametrize_constants;
pub mod parts;
pub mod pool_first;
mod rewrite;
pub mod rules;
pub mod runs;
pub mod schedule;
pub mod sink_views;
pub mod stream;

pub use batch::{Batched, Looped, batch};
pub use convolutions::{ConvAlgorithm, convolutions, options as conv_options};
pub use cost::{Cost, NodeCost, cost, cost_table};
pub use coverage::coverage;
pub use elide_zero_carry::{Carried, Leaf, carried, elide_zero_carry};
pub use frontend::{Frontend, FrontendError};
pub use fuse::fuse;
pub use fuse_elementwise::fuse_elementwise;
pub use grad::{GradError, grad};
pub use lower::{LowerError, Lowered, Shapes, lower};
pub use mixed_precision::mixed_precision;
pub use parametrize_constants::{Supply, parametrize_constants};
pub use pool_first::pool_first;
pub use runs::{Runs, runs};
pub use schedule::{Block, Compute, Control, Free, Item, Schedule, schedule};
pub use sink_views::sink_views;
pub use stream::stream;

use fedround_ir::tensor::{Graph, GraphError, Op, equal};

use crate::{PassError, PassManager, Request};

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

/// [`elide-zero-carry`](fn@idle) under a pass manager of the caller's, and cleans up; the graph is shown under
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

/// [`parametrize-constants`](fn@hoist) under a pass manager of the caller's; the graph is shown under `name`.
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

/// Puts what a pass gives in the place of a graph; gives whether it is another one.
pub(crate) fn replace(
    graph: &mut Graph,
    pass: &str,
    work: impl FnOnce(&Graph) -> Result<Graph, GraphError>,
) -> Result<bool, PassError> {
    let new = work(graph).map_err(|source| PassError::Graph {
        when: format!("in {pass}"),
        source: Box::new(source),
    })?;
    let old = std::mem::replace(graph, new);
    Ok(!equal(&old, graph))
}
