//! Registers a party at the SuperLink and activates its node.

use std::time::Duration;

use super::state::NodeState;
use super::{Party, PartySettings};
use crate::api::{Api, Credentials};
use crate::auth::NodeKey;
use crate::confirm::Confirmations;
use crate::error::FlowerError;
use crate::heartbeat::Heartbeat;
use crate::http::{Backoff, CallError, Connection, Reason};
use crate::id::NodeId;
use crate::pace::Pace;
use crate::wire::fleet::{
    ActivateNodeRequest, ActivateNodeResponse, RegisterNodeFleetRequest, RegisterNodeFleetResponse,
};
use crate::wire::node::{SendNodeHeartbeatRequest, SendNodeHeartbeatResponse};

/// Flower accepts these intervals, in seconds.
const INTERVALS: std::ops::RangeInclusive<f64> = 10.0..=1800.0;
/// A party beats a little more often than it promises.
const BEATS_AN_INTERVAL: f64 = 0.8;
const KEY_FILE: &str = "key.pem";
/// Polls for requests wait at least and at most this long.
const POLL: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

impl Party {
    /// Comes online: reads or makes the key, registers it unless the SuperLink has an allow-list,
    /// and starts the heartbeat.
    ///
    /// A party that was killed comes back at once under its former number, if its state folder is
    /// there. Otherwise the SuperLink takes the former process for online until twice its heartbeat
    /// interval has passed, and this waits for that.
    ///
    /// # Errors
    ///
    /// [`FlowerError::NotAdmitted`] for a key that is not on the SuperLink's list;
    /// [`FlowerError::StillOnline`] if another process uses the key; [`FlowerError::Key`],
    /// [`FlowerError::Store`] and [`FlowerError::State`] for the files;
    /// [`FlowerError::HeartbeatInterval`]; [`FlowerError::Call`], with [`Reason::Authentication`] if
    /// this machine's clock is wrong by minutes.
    pub fn join(connection: &Connection, settings: PartySettings) -> Result<Self, FlowerError> {
        let interval = settings.heartbeat.as_secs_f64();
        if !INTERVALS.contains(&interval) {
            let found = settings.heartbeat;
            return Err(FlowerError::HeartbeatInterval { found });
        }
        std::fs::create_dir_all(&settings.state).map_err(|error| FlowerError::State {
            path: settings.state.clone(),
            problem: error.to_string(),
        })?;
        let key = match &settings.key {
            Some(path) => NodeKey::read(path)?,
            None => NodeKey::read_or_generate(&settings.state.join(KEY_FILE))?,
        };
        let mut joining = Joining {
            api: Api {
                connection: connection.clone(),
                name: "fleet",
                node: NodeId(0),
                credentials: Credentials::Key(key.clone()),
            },
            public_key: key.public_pem().to_owned(),
            interval,
        };
        joining.come_online(&settings)?;
        let api = joining.api;
        let mut beating = api.clone();
        let every = settings.heartbeat.mul_f64(BEATS_AN_INTERVAL);
        beating.connection = connection.with_patience(every);
        let heartbeat = Heartbeat::start("fedround-heartbeat", every, move || {
            beat(&beating, interval)
        });
        let confirmations = Confirmations::start(api.clone());
        Ok(Self {
            heartbeat: heartbeat.map_err(FlowerError::Thread)?,
            confirmations: confirmations.map_err(FlowerError::Thread)?,
            api,
            settings,
            open_replies: vec![],
            pace: Pace::new(POLL.0, POLL.1),
        })
    }
}

struct Joining {
    api: Api,
    public_key: String,
    interval: f64,
}

impl Joining {
    fn come_online(&mut self, settings: &PartySettings) -> Result<(), FlowerError> {
        let superlink = self.api.connection.settings().url.clone();
        let known = NodeState::read(&settings.state)?
            .filter(|state| state.public_key == self.public_key && state.superlink == superlink);
        if let Some(known) = known {
            // A heartbeat brings a node online, whether it is taken for online or not.
            self.api.node = known.node_id;
            match beat(&self.api, self.interval) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                // The SuperLink has another database than before.
                Err(error) if error.is(Reason::Authentication) => {}
                Err(error) => return Err(FlowerError::Call(error)),
            }
        }
        let registered = self.register().map_err(FlowerError::Call)?;
        self.api.node = self.activate(registered, settings.heartbeat)?;
        let state = NodeState {
            node_id: self.api.node,
            public_key: self.public_key.clone(),
            superlink,
        };
        state.write(&settings.state)
    }

    /// Registers the key; `false` if only the operator may.
    fn register(&self) -> Result<bool, CallError> {
        let request = RegisterNodeFleetRequest {
            public_key: self.public_key.clone().into_bytes(),
        };
        let response: Result<RegisterNodeFleetResponse, _> =
            self.api.call("register-node", &request);
        match response {
            Ok(_) => Ok(true),
            Err(error) if error.is(Reason::KeyInUse) => Ok(true),
            Err(error) if error.is(Reason::RegistrationDisabled) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Brings the node of the key online. The SuperLink refuses that in the same words for a key
    /// that it does not know and for a node that is online already; a key that was registered just
    /// now or before can only be the latter.
    fn activate(&self, registered: bool, heartbeat: Duration) -> Result<NodeId, FlowerError> {
        let request = ActivateNodeRequest {
            public_key: self.public_key.clone().into_bytes(),
            heartbeat_interval: self.interval,
        };
        let second = Duration::from_secs(1);
        let mut backoff = Backoff::new(second, 2 * second, 2 * heartbeat + 5 * second);
        loop {
            let response: Result<ActivateNodeResponse, _> =
                self.api.call("activate-node", &request);
            match response {
                Ok(response) => return Ok(NodeId(response.node_id)),
                Err(CallError::Refused { refusal, .. })
                    if refusal.reason == Reason::ActivationFailed =>
                {
                    if !registered {
                        return Err(FlowerError::NotAdmitted {
                            public_key: self.public_key.clone(),
                            refusal,
                        });
                    }
                }
                Err(error) => return Err(FlowerError::Call(error)),
            }
            if !backoff.wait() {
                let waited = backoff.elapsed();
                return Err(FlowerError::StillOnline { waited });
            }
        }
    }
}

/// Whether the SuperLink knows the node.
fn beat(api: &Api, interval: f64) -> Result<bool, CallError> {
    let request = SendNodeHeartbeatRequest {
        node: api.wire_node(),
        heartbeat_interval: interval,
    };
    let response: SendNodeHeartbeatResponse = api.call("send-node-heartbeat", &request)?;
    Ok(response.success)
}
