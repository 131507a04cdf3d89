//! Splits a linked module into control operations and compute segments.
//!
//! *Control* operations concern clients, communication, batches or state: sample, broadcast, map, reduce,
//! loops over batches. The executor runs them one by one. Everything between two of them is
//! straight-line arithmetic on tensors: a *compute segment*, which [`lower`](crate::lowering::lower())
//! turns into one tensor graph. A local training step, for example, is one segment.

mod control;
mod loop_carried;
mod plan;
mod runs;
mod settles;
mod split;
mod stream;

pub use loop_carried::{LoopCarried, loop_carried};
pub use plan::{Block, Compute, Control, Free, Item, Schedule};
pub use runs::{Runs, runs};
pub use split::schedule;
pub use stream::stream;
