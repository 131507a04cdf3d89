//! Analyses of tensor graphs. They change nothing.

mod cost;
mod coverage;

pub use cost::{Cost, NodeCost, cost};
pub use coverage::{Coverage, Gradient, coverage};
