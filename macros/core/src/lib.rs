//! The expansion logic of fedround's macros, as an ordinary library: tokens in, tokens out, on
//! proc-macro2, so that plain tests can call it.
//!
//! Each macro runs four stages, each a folder with files of the same names: `parse` (tokens to
//! syntax), `model` (what the syntax says: hooks, loops, fields), `check` (one function for each
//! rule, all errors at once) and `emit` (the user's tokens, lightly rewritten).
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
