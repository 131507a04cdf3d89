//! Which errors of a checkpoint are permanent.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use fedround::experiment::ExperimentError;
use fedround_simulation::{CheckpointError, RunError};
use fedround_store::{ArchiveError, ClientStoreError};

use crate::error::CliError;

/// Whether this version can never go on from a checkpoint that gives this error, so that its run has to start again. Other errors may pass: the disk is full, another process holds the folder, or only a later version of
/// fedround can read the checkpoint. To start again would then lose hours of training.
pub(super) fn is_permanent(error: &CliError) -> bool {
    match error {
        CliError::NoGoodCheckpoint { .. }
        | CliError::OtherRun { .. }
        | CliError::ChangedData { .. } => true,
        CliError::Experiment { source, .. } => match &**source {
            ExperimentError::Checkpoint(error) => fits_no_run(error),
            _ => false,
        },
        _ => false,
    }
}

fn fits_no_run(error: &CheckpointError) -> bool {
    match error {
        CheckpointError::Other { .. } => true,
        CheckpointError::Archive(error) => !matches!(error, ArchiveError::Version { .. }),
        CheckpointError::Run(RunError::ClientStates(error)) => has_lost_states(error),
        _ => false,
    }
}

fn has_lost_states(error: &ClientStoreError) -> bool {
    match error {
        ClientStoreError::Damaged { .. }
        | ClientStoreError::NoCheckpoint { .. }
        | ClientStoreError::OtherRun { .. } => true,
        // A run that ends leaves no such file.
        ClientStoreError::Database { path, .. } => is_missing(path),
        _ => false,
    }
}

/// Whether there is nothing under this name. A link to a disk that is not there now is something.
fn is_missing(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_loses_nothing() {
        let of = |error: CheckpointError| CliError::from(ExperimentError::from(error));
        let states = |error: ClientStoreError| of(RunError::from(error).into());
        let path = || "clients.redb".into();
        let (found, newest, what) = (2, 1, || "data".to_owned());
        for lost in [
            of(CheckpointError::Other {
                what: what(),
                expected: String::new(),
                found: String::new(),
            }),
            of(ArchiveError::Missing { part: what() }.into()),
            states(ClientStoreError::Damaged {
                path: path(),
                what: what(),
            }),
            CliError::NoGoodCheckpoint { damaged: vec![] },
        ] {
            assert!(is_permanent(&lost), "{lost}");
        }
        for passing in [
            of(CheckpointError::Version { found, newest }),
            of(ArchiveError::Version { found, newest }.into()),
            states(ClientStoreError::Busy { path: path() }),
            states(ClientStoreError::NoSpace {
                path: path(),
                free: None,
            }),
            CliError::io("read", "checkpoints")(ErrorKind::StaleNetworkFileHandle.into()),
        ] {
            assert!(!is_permanent(&passing), "{passing}");
        }
    }
}
