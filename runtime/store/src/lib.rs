//! What outlives a process: files that are written whole or not at all, checkpoints, and the states
//! of many clients.
//!
//! This crate knows bytes, shapes and types, and neither burn nor devices.

mod error;
mod tensor;

pub use error::StoreError;
pub use tensor::{ElementType, TensorBytes};
