//! Metrics and privacy accounting: their laws, and their values by other programs.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at its first error"
)]

mod dp_accounting;
mod laws;
mod values;
