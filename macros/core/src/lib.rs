//! The expansion logic of fedround's macros. It is an ordinary library on proc-macro2, from tokens to tokens,
//! so that tests can call it.
//!
//! Each macro has four stages, one folder each, with files of the same names:
//!
//! 1. `parse` turns tokens into syntax.
//! 2. `model` extracts hooks, loops, variables and fields from the syntax.
//! 3. `check` has one function per rule and reports all errors at once.
//! 4. `emit` writes the user's tokens with small changes.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod check;
mod diagnostics;
mod emit;
mod federated;
mod hyper;
mod model;
mod parse;
mod suggestion;
mod words;

pub use federated::federated;
pub use hyper::hyper;
pub use model::{HOOKS, Hook};
