//! Runs tensor graphs on a device.
//!
//! A [`Plan`] is a graph whose values are assigned to slots. [`Plan::run`] computes its ops one after
//! another on any device. Constants and random numbers are inputs of a plan; [`SegmentInputs`] supplies
//! them.

mod fused_kernel;
mod plan;
mod run;
mod segment_inputs;

pub use fused_kernel::Kernel;
pub use plan::{Instr, Plan, Read};
pub use run::Slots;
pub use segment_inputs::SegmentInputs;
