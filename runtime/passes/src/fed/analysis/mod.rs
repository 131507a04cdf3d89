//! Analyses of modules. They change nothing.

mod client_reads;
mod constant_losses;
mod dead_results;
pub mod dp;
mod encoded;
mod idle_layers;
mod leaf_facts;
mod leaves;
mod moved_statistics;
mod redundant_transfer;
mod row_order;
mod standard_hooks;
mod uncalled;
mod warnings;

pub(crate) use client_reads::Needless;
pub(crate) use constant_losses::zero_gradients;
pub(crate) use dead_results::unused;
pub use dp::{CohortSum, Draw, Mechanism, Mechanisms, NoiseKind, RowSteps, Unit, mechanisms};
pub use encoded::{Encoded, codec, encoded};
pub use idle_layers::{IdleLayer, idle_layers};
pub use leaf_facts::{zero_trees, zeros};
pub use leaves::Leaves;
pub use moved_statistics::moved_statistics;
pub(crate) use redundant_transfer::unsent;
pub use row_order::examples_in_order;
pub(crate) use uncalled::{reads_called, uncalled};
pub use warnings::{Warning, warnings};
