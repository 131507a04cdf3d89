//! The settings of a party that its operator decides.

use std::path::PathBuf;
use std::time::Duration;

/// How a party takes part.
#[derive(Clone, Debug)]
pub struct PartySettings {
    /// The folder for the key, if none is given, and for the node's number. One process may use
    /// it at a time.
    pub state: PathBuf,
    /// The private key: of `ssh-keygen -t ecdsa`, or PEM. Without it, `key.pem` in the state
    /// folder, which is made at the first start.
    pub key: Option<PathBuf>,
    /// How often the party says that it is online, 10 s to 1800 s. One that falls silent counts as
    /// offline after twice this time.
    pub heartbeat: Duration,
    /// How long [`crate::Party::leave`] waits for the coordinator to pull the last replies:
    /// the SuperLink discards replies of parties that are offline.
    pub linger: Duration,
}

impl PartySettings {
    /// A party of this state folder: a heartbeat every 30 s, and one minute to linger.
    pub fn new(state: impl Into<PathBuf>) -> Self {
        Self {
            state: state.into(),
            key: None,
            heartbeat: Duration::from_secs(30),
            linger: Duration::from_secs(60),
        }
    }
}
