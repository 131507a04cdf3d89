//! The bundled models: sizes, functions, auxiliary networks, weights of PyTorch.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at its first error"
)]

mod auxiliaries;
mod files;
mod foreign_files;
mod functions;
mod interop;
mod low_rank;
mod parameters;
mod weights;
