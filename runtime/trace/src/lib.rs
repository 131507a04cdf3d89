//! Turns burn models, losses and functions into fedround's tensor graphs.
//!
//! A function is run once on burn's capture device, which records operations instead of executing them.
//! [`import`] translates the recorded operations into the tensor dialect of [`fedround_ir`].
//! [`TracedModel`] does this for a model and its losses, whenever the compiler asks for a graph.
//! [`trace_function`] does it for a single function.
//!
//! No other crate knows burn's recorded operations, so a new version of burn changes this crate only.

mod capture;
pub mod import;
mod panic_message;
mod traced_model;

pub use capture::{CaptureFailure, TraceError, trace_function};
pub use panic_message::panic_message;
pub use traced_model::TracedModel;
