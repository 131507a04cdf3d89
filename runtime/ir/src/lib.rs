//! The fed and tensor dialects: types, ops, builders, printers and verifiers.
//!
//! A federated algorithm is compiled through two dialects:
//!
//! - [`fed`] describes rounds: placements, hooks, what crosses between server and clients, and
//!   regions. An algorithm is staged into this dialect.
//! - [`tensor`] describes computation: straight-line SSA graphs, one for each compute region of a fed
//!   program.
//!
//! The ops of both are closed enums, so that a pass can match them exhaustively. Both dialects have a
//! [`text`] form that is deterministic and can be read back: values are renumbered, maps are ordered,
//! and neither paths nor addresses are printed. Snapshots use a variant of it that leaves out the
//! numbers of a run.

pub mod fed;
mod loc;
pub mod tensor;
pub mod text;

pub use loc::Loc;
