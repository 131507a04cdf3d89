//! Tests of the values that compiled graphs compute: every op, its gradients, and graphs after each pass.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at its first error"
)]

mod gradients;
mod ops;
mod passes;
