//! What compiled graphs compute: every operation, its gradients, and the graph after each pass.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at its first error"
)]

mod gradients;
mod ops;
mod passes;
