//! The run at the SuperLink that a coordinator serves.

use std::path::Path;
use std::time::Duration;

use fedround::federation::RunEnd;
use fedround_flower::{
    Connection, Control, Coordinator, ExecutorSecret, Fab, FlowerError, Reason, RunId, RunOutcome,
};

use super::args::CoordinatorArgs;
use super::error::FederationError;
use super::run_token;
use crate::error::CliError;
use crate::terminal::tell;

/// How long a coordinator waits for its run's turn at the SuperLink.
const TURN: Duration = Duration::from_secs(300);

/// Goes on with the run of an earlier process, or starts one at the SuperLink. Gives nothing if a signal
/// ended the wait for its turn.
pub(super) fn take(
    connection: &Connection,
    args: &CoordinatorArgs,
    (bundle, secret): (Option<&Fab>, Option<&ExecutorSecret>),
) -> Result<Option<Coordinator>, CliError> {
    let state: &Path = &args.state;
    if let Some(earlier) = run_token::read(state)? {
        match Coordinator::resume(connection, earlier) {
            Ok(coordinator) => return Ok(Some(coordinator)),
            Err(FlowerError::Lost { problem }) => {
                tell!(
                    "note: the last run at the SuperLink has ended ({problem}); a new one begins"
                );
            }
            Err(error) => return Err(FederationError::from(error).into()),
        }
    }
    let stub = || Fab::stub("fedround", env!("CARGO_PKG_VERSION"));
    let fab = bundle.map_or_else(stub, |bundle| Ok(bundle.clone()));
    let fab = fab.map_err(FederationError::from)?;
    let control = Control::new(connection);
    let run = control.start_run(&fab, "").map_err(FederationError::from)?;
    let waits = |other: RunId| tell!("run {other} is pending at the SuperLink; waiting for it");
    let turn = (secret, TURN);
    match Coordinator::acquire_in_turn(connection, run, turn, waits) {
        Ok(coordinator) => {
            run_token::write(state, coordinator.token())?;
            Ok(Some(coordinator))
        }
        Err(error) => {
            withdraw(&control, run, &args.link.superlink);
            match error {
                FlowerError::Stopped => Ok(None),
                FlowerError::Call(call) if call.is(Reason::Authentication) => {
                    let (source, given) = (FlowerError::Call(call), args.secret.clone());
                    Err(FederationError::Secret { source, given }.into())
                }
                error => Err(FederationError::from(error).into()),
            }
        }
    }
}

/// The secret of the SuperLink, if one is given.
pub(super) fn secret(args: &CoordinatorArgs) -> Result<Option<ExecutorSecret>, CliError> {
    let read = args.secret.as_deref().map(ExecutorSecret::read).transpose();
    let read = read.map_err(FlowerError::from);
    Ok(read.map_err(FederationError::from)?)
}

/// Stops a run that nobody will serve: the SuperLink would let every later one wait for it.
fn withdraw(control: &Control, run: RunId, superlink: &str) {
    if let Err(error) = control.stop_run(run) {
        tell!(
            "warning: run {run} is still pending at the SuperLink ({error}); `fedround federation stop {run} --superlink {superlink}` stops it"
        );
    }
}

/// Ends the run. If that fails, the SuperLink takes it for failed after a minute, and nothing else is lost.
pub(super) fn end(end: RunEnd, outcome: RunOutcome, state: &Path) {
    let told = end.finish(outcome).map_err(|error| error.to_string());
    let removed = told.and_then(|()| run_token::remove(state).map_err(|error| error.to_string()));
    if let Err(error) = removed {
        tell!("warning: the SuperLink may not know that the run has ended: {error}");
    }
}
