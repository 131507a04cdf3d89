//! The flags that say how to reach a SuperLink, and what the library makes of them.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use fedround_flower::{Connection, ConnectionSettings, StopSignal};

use super::error::FederationError;
use crate::terminal::interrupt::stop_requested;

/// Where the SuperLink is.
#[derive(Debug, Args)]
pub(crate) struct LinkArgs {
    /// Address of Flower's SuperLink: https://HOST:PORT, or http:// on this machine
    #[arg(long, value_name = "URL")]
    pub superlink: String,
    /// PEM file of the certificates that sign the SuperLink's [default: the public authorities]
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Accept http:// for another machine: everybody between can read and change the models
    #[arg(long)]
    pub plaintext: bool,
}

/// How long a SuperLink is tried again by a command whose answer somebody waits for: it may be busy.
const SHORT: Duration = Duration::from_secs(2);

impl LinkArgs {
    /// Checks that a SuperLink of a known version is there. One that does not answer may be about to start, and is waited
    /// for.
    pub fn open(&self) -> Result<Connection, FederationError> {
        Ok(Connection::open(self.settings())?)
    }

    /// The same without waiting for one that is not there.
    pub fn open_now(&self) -> Result<Connection, FederationError> {
        Ok(Connection::open(self.settings().with_patience(SHORT))?)
    }

    fn settings(&self) -> ConnectionSettings {
        ConnectionSettings {
            ca: self.ca.clone(),
            plaintext: self.plaintext,
            stop: stop_signal(),
            ..ConnectionSettings::new(&self.superlink)
        }
    }
}

/// Whether a signal asked this process to end.
pub(super) fn stop_signal() -> StopSignal {
    StopSignal::new(stop_requested)
}

/// Seconds of a flag as a time.
pub(super) fn seconds(flag: &'static str, found: f64) -> Result<Duration, FederationError> {
    let wrong = |_| FederationError::Seconds { flag, found };
    Duration::try_from_secs_f64(found).map_err(wrong)
}
