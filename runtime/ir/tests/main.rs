//! The text forms of both dialects: what is read back, what is refused, and what damaged texts do.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at its first error"
)]

mod aggregated;
mod altered_text;
mod chosen;
mod fuzz_parser;
mod gathered;
mod noised;
mod round_trip;
mod support;
mod turns;
