//! Lowers compiled programs to burn and runs them.
//!
//! [`trace`] runs models and losses on burn's capture device and [`import`]s what it recorded;
//! [`program`] drives the passes and caches one [`plan`] for each compute segment and batch shape;
//! [`run`] walks a plan over burn's dispatch backend; [`engine`] drives a round over clients, and
//! [`Simulation`] a federation in one process.
//!
//! Embedders should use mimalloc as their global allocator: with glibc's, every step page-faults
//! its larger tensors anew, which makes a small model's step several times slower.

mod auxiliary;
mod captions;
mod cohort_batch;
mod convolutions;
mod device;
pub mod engine;
mod error;
mod eval;
mod flex;
mod fused;
mod fusion;
pub mod import;
mod init;
mod memory;
mod newcomer;
mod nominal;
mod ops;
mod personal;
pub mod plan;
mod precision;
pub mod program;
mod reduce;
mod replay;
pub mod run;
mod simulation;
mod supply;
#[cfg(test)]
mod testing;
pub mod trace;
mod value;
mod workers;

/// The version of burn that this crate is compiled with. Times of kernels hold for one version.
pub const BURN: &str = env!("BURN_VERSION");

pub use auxiliary::assemble_for;
pub use captions::Search;
pub use cohort_batch::{CohortBatch, CohortBatchError};
pub use convolutions::{AutotuneCache, ConvPolicy, ConvPolicyError, convolution_times};
pub use device::{
    Available, Device, DeviceError, DeviceReport, Devices, TIMED, Unavailable, devices, kernel_time,
};
pub use engine::{FederatedDataset, ObservedTensor, RoundStats, ServerObservation};
pub use error::{CompileError, RunError};
pub use eval::Evaluation;
pub use flex::has_own_kernel;
pub use fusion::{FusedGraph, FusionError};
pub use newcomer::{LateClient, LateClientError};
pub use ops::device_reads;
pub use personal::PersonalModels;
pub use precision::{Precision, PrecisionError, Target};
pub use program::Program;
pub use replay::{CaptureStats, GraphCapture, GraphCaptureError};
pub use simulation::Simulation;
pub use trace::TracedModel;

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_of_burn_is_read_from_the_lock_file() {
        assert_eq!(super::BURN.split('.').count(), 3, "{}", super::BURN);
    }
}
