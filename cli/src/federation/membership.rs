//! Brings a party online at a SuperLink and takes it offline again.

use std::process::ExitCode;
use std::time::Duration;

use fedround_flower::{FlowerError, Party, PartySettings};

use super::args::PartyArgs;
use super::error::FederationError;
use super::superlink_args::seconds;
use crate::terminal::interrupt::{signal, stop_requested};
use crate::terminal::tell;

/// How long one look for a request takes, after which signals are noticed.
pub(super) const LOOK: Duration = Duration::from_secs(1);

/// Brings the party online.
pub(super) fn join(args: &PartyArgs) -> Result<Party, FederationError> {
    let connection = args.link.open()?;
    let settings = PartySettings {
        key: args.key.clone(),
        heartbeat: seconds("heartbeat", args.heartbeat)?,
        ..PartySettings::new(&args.state)
    };
    Ok(Party::join(&connection, settings)?)
}

/// Ends the command of a party that went offline.
pub(super) fn left(lost: Result<usize, FlowerError>) -> Result<ExitCode, FederationError> {
    match lost {
        Ok(0) => {}
        Ok(lost) => tell!("warning: the coordinator did not pull {lost} replies"),
        // Nothing else can be done: the SuperLink misses its signs of life.
        Err(error) if stop_requested() => {
            tell!("warning: the SuperLink does not know that this party has left: {error}");
        }
        Err(error) => return Err(error.into()),
    }
    Ok(signal().map_or(ExitCode::SUCCESS, |signal| signal.exit_code()))
}
