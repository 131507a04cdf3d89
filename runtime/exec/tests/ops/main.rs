//! Every op of the dialect runs, for one client and for several, and `docs/ops.md` says what is
//! known of it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at its first error"
)]

mod docs;
mod examples;
