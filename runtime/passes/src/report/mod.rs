//! Reports about a compiled program: the algorithm box, the wire table, costs.

mod cost_table;
mod explain;
pub mod number_format;
mod server_memory;
mod wire;

pub use cost_table::cost_table;
pub use explain::{explain, explain_with};
pub use server_memory::{GatheredValue, gathered_values};
pub use wire::{
    Count, Derivation, Direction, Noise, Protection, Sizes, Wire, cohorts, wire, wire_cells,
    wire_table, wire_totals,
};

/// Expressions as the algorithm box writes them.
pub mod notation {
    pub use super::explain::notation::{TURN, Text, count_uses, expression, reduction};
}
