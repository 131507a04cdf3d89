//! Turns burn models, losses and functions into fedround's tensor graphs.
//!
//! A function is run once on burn's capture device, which records operations instead of executing
//! them. [`import`] translates what was recorded into the tensor dialect of [`fedround_ir`].
//! [`TracedModel`] does this for a model and its losses whenever the compiler asks for a batch
//! shape that it has not met; [`trace_function`] does it for a single function.
//!
//! This is the only crate that knows burn's recorded operations, so a new version of burn is met
//! here.

mod capture;
pub mod import;
mod panic_message;
mod traced_model;

pub use capture::{CaptureFailure, TraceError, trace_function};
pub use panic_message::panic_message;
pub use traced_model::TracedModel;
