//! Bundled algorithms as programs: snapshots of their compilation, costs that were counted by hand, texts,
//! trajectories of other implementations, and accuracies.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at its first error"
)]

#[path = "../common/mod.rs"]
mod common;

mod costs;
mod docs;
mod hypers;
mod replays;
mod runs;
mod snapshots;
mod snippets;
mod text;
mod trajectories;
