//! Passes over tensor graphs: each on a graph of its own, and each on graphs made at random.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at its first error"
)]

mod any_graph;
#[path = "../../ir/tests/support/mod.rs"]
mod support;
mod tensor_passes;
