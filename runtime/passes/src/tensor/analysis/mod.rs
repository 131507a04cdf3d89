//! What is read off tensor graphs and changes nothing.

mod cost;
mod coverage;

pub use cost::{Cost, NodeCost, bytes, cost};
pub use coverage::{Coverage, Gradient, coverage};
