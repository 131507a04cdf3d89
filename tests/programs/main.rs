//! What bundled algorithms are compiled to, and what whole runs give: snapshots, costs by hand, texts,
//! trajectories of other implementations, accuracies.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at its first error"
)]

#[path = "../common/mod.rs"]
mod common;

mod costs;
mod docs;
mod runs;
mod snapshots;
mod snippets;
mod text;
mod trajectories;
