//! The bundled models: sizes, functions, auxiliary networks, weights of PyTorch.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at its first error"
)]

mod auxiliaries;
mod functions;
mod parameters;
mod weights;
