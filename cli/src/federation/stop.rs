//! The subcommand `fedround federation stop`: ends a run at a SuperLink.

use fedround_flower::{Control, RunId};

use super::args::StopArgs;
use super::error::FederationError;
use crate::error::CliError;
use crate::terminal::tell;

pub(crate) fn stop(args: &StopArgs) -> Result<(), CliError> {
    let (control, run) = (Control::new(&args.link.open()?), args.run);
    let stopped = control
        .stop_run(RunId(run))
        .map_err(FederationError::from)?;
    if !stopped {
        return Err(FederationError::NotRunning { run }.into());
    }
    tell!("run {run} is stopped");
    Ok(())
}
