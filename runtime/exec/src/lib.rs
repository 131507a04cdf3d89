//! Compiles federated programs to plans of tensor operations, and runs those plans on a device.
//!
//! From the bottom up:
//!
//! - [`device`] finds and opens devices, and defines the errors of work on them;
//! - [`tensor`] moves values between host memory and devices;
//! - [`ops`] computes one op of the tensor dialect;
//! - [`executor`] runs a plan: a graph whose values are assigned to slots;
//! - [`autotune`] chooses the algorithm of convolutions: a fixed one, or the fastest on the device;
//! - [`program`] runs the passes over a federated algorithm, and compiles one plan for each compute segment
//!   and batch shape when it is first needed;
//! - [`capture`] captures a training step as a graph of kernel launches, and replays it;
//! - [`inspect`] reports how burn-fusion fuses the ops of a step on a GPU.
//!
//! Federated rounds over clients are in the crate `fedround-simulation`, which uses this one.
//!
//! An application should use mimalloc as its global allocator. glibc's allocator returns large tensors to the
//! system after each step, so the next step page-faults them again. That makes the step of a small model
//! several times slower.

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
