//! Splits a linked module into what the engine drives and what tensors compute.
//!
//! *Control* ops touch clients, wires, batches or state: sample, broadcast, map, reduce, batch
//! loops. Everything between two of them is straight-line arithmetic on tensors: a *compute
//! segment*, which [`lower`](crate::lowering::lower()) turns into one tensor graph. A local step is one
//! segment, from its batch to the updated parameters.

mod control;
mod loop_carried;
mod plan;
mod runs;
mod split;
mod stream;

pub use loop_carried::{Carried, carried};
pub use plan::{Block, Compute, Control, Free, Item, Schedule};
pub use runs::{Runs, runs};
pub use split::schedule;
pub use stream::stream;
