//! Compiles federated programs to plans of tensor operations, and runs those plans on a device.
//!
//! From the bottom up:
//!
//! - [`device`] finds and opens devices, and holds the errors of work on them;
//! - [`tensor`] moves values between host memory and devices;
//! - [`ops`] computes one operation of the tensor dialect;
//! - [`executor`] runs a plan: a graph whose values have slots;
//! - [`autotune`] chooses the algorithm of convolutions, by timing where asked to;
//! - [`program`] drives the passes over a federated algorithm, and compiles one plan for each
//!   compute segment and batch shape on demand;
//! - [`capture`] records a training step as a graph of kernel launches and replays it;
//! - [`inspect`] shows what a GPU's kernel fusion makes of a step.
//!
//! The rounds over clients that use all this are in `fedround-simulation`.
//!
//! Embedders should use mimalloc as their global allocator. With glibc's, every step page-faults
//! its larger tensors anew, which makes the step of a small model several times slower.

pub mod autotune;
mod burn_version;
pub mod capture;
pub mod device;
pub mod executor;
pub mod inspect;
pub mod ops;
mod precision;
pub mod program;
mod self_test;
mod target;
pub mod tensor;

pub use autotune::{AutotuneCache, ConvPolicy, ConvPolicyError};
pub use burn_version::BURN;
pub use capture::{CaptureStats, GraphCapture, GraphCaptureError};
pub use device::{Device, DeviceError, Devices, ExecError};
pub use precision::{Precision, PrecisionError};
pub use program::{CompileError, Program, Warning, assemble_for};
pub use target::Target;
