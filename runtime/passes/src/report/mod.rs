//! Reports about a compiled program: the algorithm box, the wire table, costs.

mod cost_table;
mod explain;
pub mod number_format;
mod server_memory;
mod wire;

pub use cost_table::cost_table;
pub use explain::{explain, explain_with, notation};
pub use server_memory::{GatheredValue, gathered_values};
pub use wire::{
    Count, Derivation, Direction, Noise, Protection, Sizes, Wire, cohorts, wire, wire_cells,
    wire_table, wire_totals,
};
