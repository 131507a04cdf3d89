//! Errors of a coordinator and of a party.

use std::path::PathBuf;

use fedround::experiment::ExperimentError;
use fedround::federation::{ClientAppsError, DurableHostError, ParticipantError, ServerAppError};
use fedround_flower::{CallError, ConnectError, FlowerError};
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
    #[error(
        "--public-share is drawn from the dataset of the whole federation, and with --own-data there is none; leave one of them out"
    )]
    PublicShare,
    #[error("clients of a federation fail by themselves; --{flag} is for simulations")]
    Simulated { flag: &'static str },
    /// Another coordinator has used a folder that was not there when this one looked for checkpoints.
    #[error(
        "another coordinator has begun a run in `{}` meanwhile; the same command goes on with it",
        dir.display()
    )]
    Begun { dir: PathBuf },
    #[error("the program {hash} is not approved; nothing was sent")]
    NotApproved { hash: String },
    #[error(
        "--approve: `{found}` is neither a program's hash, which has 64 hexadecimal digits, nor `any`, and there is no such file"
    )]
    NoApproval { found: String },
    #[error("{}: expected the token of a run, found something else: {message}", path.display())]
    Token { path: PathBuf, message: String },
    #[error(
        "--ensemble: the clients have models of their own, which stay at the parties, so that they cannot be asked together"
    )]
    Ensemble,
    #[error("{source}")]
    NothingTrained {
        source: Box<ExperimentError>,
        /// Where the rounds are.
        kept: Option<String>,
    },
    #[error("{source}")]
    Secret {
        source: FlowerError,
        /// The file of the secret that was given, if one was.
        given: Option<PathBuf>,
    },
    #[error("run {run} is not pending or running at the SuperLink")]
    NotRunning { run: u64 },
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
            Self::Connect(error) => of_connection(error)?.to_owned(),
            Self::Flower(FlowerError::OtherRunPending { other, .. }) => format!(
                "`fedround federation stop {other} --superlink URL` stops a run whose coordinator is gone; `fedround federation status` lists all"
            ),
            Self::Secret { given: None, .. } => {
                "--secret FILE has the secret with which the SuperLink was started (--superexec-auth-secret-file)".to_owned()
            }
            Self::Secret { given: Some(file), .. } => format!(
                "the SuperLink was started with another secret than that of {} (--superexec-auth-secret-file), or its clock differs",
                file.display()
            ),
            Self::NotRunning { .. } => "`fedround federation status` lists the runs".to_owned(),
            Self::NothingTrained { kept, .. } => {
                let help = "the messages above and those of the parties say why clients were left out; a longer --patience or --deadline waits for parties, and a smaller --min-clients goes on with fewer clients";
                let kept = kept.as_ref().map(|kept| format!("; {kept}"));
                format!("{help}{}", kept.unwrap_or_default())
            }
            _ => return None,
        })
    }
}

/// What to do about a SuperLink that cannot be used, where the message does not say so itself.
fn of_connection(error: &ConnectError) -> Option<&'static str> {
    match error {
        ConnectError::Call(CallError::Unreachable { .. }) => {
            Some("start one with flower-superlink --isolation process (docs/federation.md)")
        }
        ConnectError::Call(CallError::Tls { .. }) => {
            Some("--ca FILE names the certificate of the authority that signed the SuperLink's")
        }
        ConnectError::Plaintext { .. } => Some("--plaintext accepts it"),
        _ => None,
    }
}
