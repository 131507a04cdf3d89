//! Errors of saving a simulation and restoring it.

use fedround_exec::ExecError;
use fedround_store::ArchiveError;

use crate::error::RunError;

/// A simulation could not be saved, or a checkpoint does not fit it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// A tensor could not be read from its device, or the program's graphs could not be printed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The archive lacks a part, or a part has other contents.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A later version of fedround wrote the checkpoint.
    #[error(
        "the checkpoint has version {found}, and this program reads up to version {newest}; use the version of fedround that wrote it, or a later one"
    )]
    Version {
        /// The checkpoint's version.
        found: u32,
        /// The newest version that can be read.
        newest: u32,
    },
    /// A simulation with another program, other data or other settings saved the checkpoint.
    #[error(
        "the checkpoint was saved with another {what}: it has {found}, and this run has {expected}"
    )]
    Other {
        /// What differs.
        what: String,
        /// The value in this simulation.
        expected: String,
        /// The value in the checkpoint.
        found: String,
    },
    /// The states of clients are in a file that nobody named.
    #[error(
        "the checkpoint of round {round} has the states of clients in a file of their own; name that file by `set_client_store` before `restore`"
    )]
    NoClientStore {
        /// The checkpoint's round.
        round: usize,
    },
    /// A state is a mask, which cannot be saved.
    #[error("the state `{name}` holds a mask, expected floats or integers")]
    Element {
        /// The state's name.
        name: String,
    },
}

impl From<ExecError> for CheckpointError {
    fn from(error: ExecError) -> Self {
        Self::Run(error.into())
    }
}
