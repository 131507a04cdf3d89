//! The fed and tensor dialects: types, ops, builders, printers and verifiers.
//!
//! Two dialects, two levels of a compiled federated algorithm:
//!
//! - [`fed`]: rounds, placements, slots, wire ops and regions. What a spec is staged into.
//! - [`tensor`]: straight-line SSA graphs, one for each compute region of a fed program.
//!
//! Both are closed enums, so that a pass is an exhaustive `match`. Text forms are deterministic:
//! values are renumbered, maps are ordered, and no path, address or float of a run is printed.

pub mod fed;
mod loc;
pub mod tensor;

pub use loc::Loc;
