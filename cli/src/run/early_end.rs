//! What ends a run before its last round.

use fedround::experiment::{ExperimentError, Report, Status};
use fedround_simulation::RunError;

use crate::error::CliError;
use crate::terminal::interrupt::stop_requested;

/// What ended a run before its last round.
pub(super) enum Ended {
    Run(ExperimentError),
    Command(CliError),
}

impl Ended {
    /// A round that fails for want of a file may succeed another time: such a run has not failed.
    pub fn of(error: ExperimentError) -> Self {
        let of_a_file = match &error {
            ExperimentError::Run(source) => matches!(**source, RunError::ClientStates(_)),
            _ => false,
        };
        match of_a_file {
            true => Self::Command(error.into()),
            false => Self::Run(error),
        }
    }
}

impl From<CliError> for Ended {
    fn from(error: CliError) -> Self {
        Self::Command(error)
    }
}

/// Whether a run is to stop that does not reach its parties: nobody waits for them then.
pub(super) fn is_stop(error: &ExperimentError) -> bool {
    match error {
        ExperimentError::Run(source) => {
            stop_requested() && matches!(**source, RunError::Unreachable(_))
        }
        _ => false,
    }
}

/// A run whose last evaluation a signal ended has not failed.
pub(super) fn interrupted(error: ExperimentError) -> Result<Report, ExperimentError> {
    match error {
        ExperimentError::Training { source, report } if is_stop(&source) => Ok(Report {
            status: Status::Interrupted,
            ..*report
        }),
        error => Err(error),
    }
}
