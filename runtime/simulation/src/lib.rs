//! Runs federated rounds over simulated clients in one process.
//!
//! A [`Simulation`] takes a compiled [`Program`](fedround_exec::Program) and a [`FederatedDataset`].
//! Each call of [`Simulation::run_round`] executes one round: the server samples a cohort, sends it
//! the model, the clients train on worker threads, and the server aggregates what they return.
//! Results depend on the program, the dataset, the seed and the devices, and not on the number of
//! threads.
//!
//! The module `round` executes the server's operations of a round, and `client` those of the clients. Both use
//! `interpreter` for the operations that they share, on the values of `value`. The server reaches its clients
//! through `regions`: clients run in this process, or at [`parties`].

mod aggregate;
mod byte_size;
mod checkpoint_error;
mod client;
mod cohort_batch;
mod columns;
mod context;
mod controls;
mod dataset;
mod device_data;
mod device_examples;
mod error;
mod evaluation;
mod faults;
mod init_parameters;
mod interpreter;
mod late_client;
mod loop_form;
mod loop_replay;
mod non_finite;
pub mod parties;
mod regions;
mod retry_on_oom;
mod round;
pub mod sampling;
mod simulation;
mod state;
mod tensor_bytes;
#[cfg(test)]
mod testing;
mod value;
mod workers;

pub use byte_size::{ByteSize, ByteSizeError};
pub use checkpoint_error::CheckpointError;
pub use cohort_batch::{CohortBatch, CohortBatchError};
pub use dataset::FederatedDataset;
pub use device_data::{DeviceData, DeviceDataError};
pub use error::RunError;
pub use evaluation::Evaluation;
pub use evaluation::captions::Search;
pub use evaluation::personal_models::PersonalModels;
pub use faults::{Distribution, DistributionError, Faults, FaultsError};
pub use init_parameters::{initial_values, without_drawn_values};
pub use late_client::{LateClient, LateClientError};
pub use loop_form::PlainReason;
pub use loop_replay::LoopReplay;
pub use non_finite::{Diverged, OnNan, OnNanError};
pub use round::{ObservedTensor, RoundStats, ServerObservation};
pub use simulation::{PersonalDifference, ServerStateError, Simulation};
pub use state::ClientMemory;
