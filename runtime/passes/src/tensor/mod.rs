//! From a linked fed program to optimised tensor graphs.
//!
//! - [`schedule`](mod@schedule) splits a linked module into control ops and straight-line compute segments;
//! - [`lower`](mod@lower) turns a segment into a tensor graph, with models and losses traced by a [`Frontend`];
//! - [`grad`](mod@grad) appends reverse-mode gradients, one rule for each op in [`rules`];
//! - [`fold`], [`cse`] and [`dce`] clean the graph up; [`optimize`] runs them;
//! - [`hoist`](mod@hoist) makes inputs of constants and random draws;
//! - [`coverage`](mod@coverage) says what they do with each op;
//! - [`fuse`](mod@fuse) makes one op of each parameter update, for devices without fusion;
//! - [`cost`](mod@cost) counts operations, memory traffic and peak memory, [`runs`](mod@runs) how
//!   often a round runs a segment.

mod arithmetic;
pub mod batch;
pub mod cost;
pub mod coverage;
pub mod cse;
pub mod dce;
pub mod fold;
pub mod fuse;
pub mod fuse_elementwise;
pub mod grad;
pub mod hoist;
mod liveness;
pub mod lower;
mod parts;
mod privacy;
mod rewrite;
pub mod rules;
pub mod runs;
pub mod schedule;
pub mod sink;
pub mod stream;

pub use batch::{Batched, batch};
pub use cost::{Cost, NodeCost, cost, cost_table};
pub use coverage::coverage;
pub use fuse::fuse;
pub use fuse_elementwise::fuse_elementwise;
pub use grad::{GradError, grad};
pub use hoist::{Supply, hoist};
pub use lower::{Frontend, LowerError, Lowered, lower};
pub use runs::{Runs, runs};
pub use schedule::{Block, Compute, Control, Free, Item, Schedule, schedule};
pub use sink::sink;
pub use stream::stream;

use fedround_ir::tensor::{Graph, GraphError, Node, Op, TensorType};

/// Folds constants, shares equal nodes and drops unused ones until nothing changes.
///
/// # Errors
///
/// A pass broke an invariant of the graph: a bug in fedround, not in the program.
pub fn optimize(mut graph: Graph) -> Result<Graph, GraphError> {
    loop {
        let before = shape_of(&graph);
        graph = dce::dce(&cse::cse(&fold::fold(&graph)?)?);
        if shape_of(&graph) == before {
            graph.verify()?;
            return Ok(graph);
        }
    }
}

/// Batches a graph over `clients` and cleans up: views that the batching rules left around each
/// layer sink until they meet.
///
/// # Errors
///
/// As [`optimize`].
pub fn batch_clients(
    graph: &Graph,
    clients: usize,
    inputs: &[bool],
) -> Result<Batched, GraphError> {
    let mut batched = batch(graph, clients, inputs)?;
    loop {
        let before = shape_of(&batched.graph);
        batched.graph = optimize(sink::sink(&batched.graph)?)?;
        if shape_of(&batched.graph) == before {
            return Ok(batched);
        }
    }
}

/// What a graph does: equal before and after a pass that changed nothing.
fn shape_of(graph: &Graph) -> Vec<(Op, Vec<TensorType>)> {
    let node = |n: &Node| {
        let types = n.ins.iter().map(|v| graph.type_of(*v).clone());
        (n.op.clone(), types.collect())
    };
    graph.nodes.iter().map(node).collect()
}
