//! Errors of compiling a program.

use fedround_dsl::StageError;
use fedround_models::AuxiliaryError;
use fedround_passes::PassError;
use fedround_passes::lowering::{FrontendError, LowerError};
use fedround_passes::parties::SplitError;
use fedround_passes::report::number_format::bytes;

use crate::device::{DeviceError, ExecError};

/// A program could not be compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The spec does not stage to a valid module.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// Linking or another pass failed.
    #[error(transparent)]
    Pass(#[from] PassError),
    /// A compute segment could not be lowered.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// A function of the model that is called for evaluation or to read data could not be traced. No line of a
    /// spec calls it.
    #[error("the model cannot be used: {0}")]
    Model(#[source] FrontendError),
    /// No auxiliary network has a function that the algorithm applies.
    #[error(transparent)]
    Auxiliary(#[from] AuxiliaryError),
    /// The device cannot be used.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The device had failed before, which was noticed when a convolution was timed on it.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// The round cannot be divided between a server and parties.
    #[error(transparent)]
    Parties(#[from] SplitError),
    /// The inputs of a batch need more memory than a step can have.
    #[error(
        "a batch of {batch} examples has {} of inputs, expected at most {}",
        bytes(*found),
        bytes(*most)
    )]
    Batch {
        /// The batch size of the spec.
        batch: usize,
        /// The bytes of its inputs.
        found: u64,
        /// The largest allowed number of bytes.
        most: u64,
    },
    /// The algorithm defines no round.
    #[error("the algorithm defines no hook `round`; implement `fn round(&self, server, w)`")]
    NoRound,
}
