//! Passes over the fed dialect, and what is read off its linked graph.
//!
//! [`link`] runs the pipeline: verify, [`link_hooks()`], then [`canonicalize()`], [`cse()`] and
//! [`dce()`] until nothing changes. [`explain()`] prints the result as an algorithm box and
//! [`wire()`] lists what crosses between server and clients.

mod algebra;
mod canonicalize;
mod cse;
mod dce;
mod error;
mod examples_order;
mod explain;
mod explain_regions;
mod explain_text;
mod fuse_maps;
#[cfg(test)]
mod gathered_tests;
mod leaves;
mod licm;
mod link_hooks;
mod mechanisms;
mod mechanisms_rows;
#[cfg(test)]
mod mechanisms_tests;
#[cfg(test)]
mod optimizers_tests;
mod pipeline;
mod rewrite;
#[cfg(test)]
pub(crate) mod testing;
mod unchanged;
mod unsent;
mod unused;
mod unused_hypers;
mod warnings;
mod wire;
mod wire_origin;
mod wire_table;

pub use canonicalize::canonicalize;
pub use cse::cse;
pub use dce::dce;
pub use error::LinkError;
pub use examples_order::examples_in_order;
pub use explain::{explain, explain_with};
pub use fuse_maps::fuse_maps;
pub use leaves::Leaves;
pub use licm::licm;
pub use link_hooks::link_hooks;
pub use mechanisms::{Mechanism, Mechanisms, NoiseKind, Unit, mechanisms};
pub use mechanisms_rows::RowSteps;
pub use pipeline::{Linked, lay_out, link, link_observed, link_with};

pub use crate::PassError;
pub use warnings::{Warning, warnings};
/// Expressions as the algorithm box writes them.
pub mod notation {
    pub use super::explain_text::{Text, count_uses, expression, reduction};
}

pub use unchanged::zeros;
pub use wire::{Count, Direction, Noise, Protection, Wire, wire};
pub use wire_table::wire_table;
