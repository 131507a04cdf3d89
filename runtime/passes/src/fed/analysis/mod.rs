//! What is read off a module and changes nothing.

mod dead_results;
pub mod dp;
mod leaf_facts;
mod leaves;
mod redundant_transfer;
mod row_order;
mod warnings;

pub(crate) use dead_results::unused;
pub use dp::{Mechanism, Mechanisms, NoiseKind, RowSteps, Unit, mechanisms};
pub use leaf_facts::zeros;
pub use leaves::Leaves;
pub(crate) use redundant_transfer::{Needless, unsent};
pub use row_order::examples_in_order;
pub use warnings::{Warning, warnings};
