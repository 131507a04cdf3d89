//! Errors of a coordinator and of a party.

use std::path::PathBuf;

use fedround::federation::{ClientAppsError, DurableHostError, ParticipantError, ServerAppError};
use fedround_flower::{ConnectError, FlowerError};
use fedround_simulation::parties::HostError;

/// Why a coordinator or a party stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FederationError {
    #[error(transparent)]
    Flower(#[from] FlowerError),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Host(#[from] HostError),
    #[error(transparent)]
    DurableHost(#[from] DurableHostError),
    #[error(transparent)]
    Participant(#[from] ParticipantError),
    #[error(transparent)]
    ClientApps(#[from] ClientAppsError),
    #[error(transparent)]
    ServerApp(#[from] ServerAppError),
    #[error("--{flag}: expected seconds, found {found}")]
    Seconds { flag: &'static str, found: f64 },
    #[error("--host: expected numbers of clients, as in 3, 0-249 or 0,2,7-9, found `{found}`")]
    Clients { found: String },
    #[error(
        "--host: client {client} is not one of the federation's {clients}, which are numbered from 0"
    )]
    NoClient { client: usize, clients: usize },
    #[error("clients of a federation fail by themselves; --{flag} is for simulations")]
    Simulated { flag: &'static str },
    #[error("the program {hash} is not approved; nothing was sent")]
    NotApproved { hash: String },
    #[error("cannot read {}: {source}", path.display())]
    Approvals {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{}: expected the token of a run, found something else: {message}", path.display())]
    Token { path: PathBuf, message: String },
}

impl FederationError {
    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::NotApproved { hash } => {
                format!("read above what the clients send; --approve {hash} takes part")
            }
            Self::NoClient { .. } => {
                "--clients N is the number of clients in the whole federation".to_owned()
            }
            Self::Token { .. } => {
                "delete the file to start a run of its own at the SuperLink".to_owned()
            }
            Self::ClientApps(_) => {
                "without --client-app, parties of fedround alone take part".to_owned()
            }
            Self::Connect(_) => {
                "start one with flower-superlink --isolation process (docs/federation.md)"
                    .to_owned()
            }
            _ => return None,
        })
    }
}
