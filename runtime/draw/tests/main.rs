//! Drawings of fed modules and of training steps.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at its first error"
)]

mod exchanges;
mod fed;
#[path = "../../dsl/tests/common/mod.rs"]
#[allow(missing_docs)]
mod specs;
mod support;
mod tensor;
