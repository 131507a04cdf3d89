//! The fed and tensor dialects: types, ops, builders, printers and verifiers.
//!
//! Two dialects, two levels of a compiled federated algorithm:
//!
//! - [`fed`]: rounds, placements, hooks, wire ops and regions. What a spec is staged into.
//! - [`tensor`]: straight-line SSA graphs, one for each compute region of a fed program.
//!
//! Both are closed enums, so that a pass is an exhaustive `match`. Both have a [`text`] form, which
//! is deterministic (values are renumbered, maps are ordered, no path or address is printed) and
//! reads back. For snapshots it comes without the numbers of a run.

pub mod fed;
mod loc;
pub mod tensor;
pub mod text;

pub use loc::Loc;
