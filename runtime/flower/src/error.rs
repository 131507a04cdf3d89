//! Errors of parties and coordinators.

use std::time::Duration;

use fedround_store::StoreError;
use thiserror::Error;

use crate::auth::KeyError;
use crate::http::{CallError, ConnectError, Reason, Refusal};
use crate::id::{NodeId, RunId};
use crate::kind::MessageKindError;
use crate::object::ObjectError;

/// What ended a call of a party, a coordinator or an operator.
#[derive(Debug, Error)]
pub enum FlowerError {
    /// The SuperLink cannot be used.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// A call failed.
    #[error(transparent)]
    Call(CallError),
    /// Bytes that were received are no message.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// A message of a type that Flower does not have.
    #[error(transparent)]
    Kind(#[from] MessageKindError),
    /// A key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A file of the state folder cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file of the state folder cannot be read.
    #[error("cannot read {}: {problem}", path.display())]
    State {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        problem: String,
    },
    /// The system starts no thread for the heartbeat.
    #[error("cannot start a thread for the heartbeat: {0}")]
    Thread(std::io::Error),
    /// The SuperLink admits only keys that its operator registered, and this is none of them.
    #[error(
        "the SuperLink does not admit this party: its operator has to register the public key, or another process with the same key is online ({refusal}). The public key is\n{public_key}"
    )]
    NotAdmitted {
        /// The key in PEM.
        public_key: String,
        /// What the SuperLink said.
        refusal: Refusal,
    },
    /// Another process with this key did not go offline.
    #[error(
        "another process with the same key is online at the SuperLink, for {:.0} s already",
        waited.as_secs_f64()
    )]
    StillOnline {
        /// How long this process has waited.
        waited: Duration,
    },
    /// An interval that Flower does not allow.
    #[error(
        "a heartbeat every {} s is not possible: Flower allows 10 s to 1800 s",
        found.as_secs_f64()
    )]
    HeartbeatInterval {
        /// The interval.
        found: Duration,
    },
    /// The SuperLink does not accept this party or coordinator any more.
    #[error("the SuperLink does not accept this process any more: {problem}")]
    Lost {
        /// Why.
        problem: String,
    },
    /// A reply to a message of another node.
    #[error("a request to node {request} cannot be answered by node {party}")]
    ForeignRequest {
        /// The node of the request.
        request: NodeId,
        /// This party's node.
        party: NodeId,
    },
    /// This process was asked to end while it waited for the run's turn.
    #[error("the process was asked to end before the run began")]
    Stopped,
    /// No task for the run.
    #[error(
        "no process may serve run {run} yet, after {:.0} s: is the SuperLink started with process isolation, and the run still pending?",
        waited.as_secs_f64()
    )]
    NoTask {
        /// The run.
        run: RunId,
        /// How long was waited.
        waited: Duration,
    },
    /// Another run comes first: the SuperLink gives out tasks in the order of their runs.
    #[error(
        "run {other} is pending at the SuperLink, and has to be served or stopped before run {run}"
    )]
    OtherRunPending {
        /// The run that was to be served.
        run: RunId,
        /// The run that comes before it.
        other: RunId,
    },
    /// The task of another run was taken, which therefore fails.
    #[error(
        "the SuperLink gave out the task of run {other} instead of run {run}: both were started at the same time"
    )]
    ForeignTask {
        /// The run that was to be served.
        run: RunId,
        /// The run whose task came.
        other: RunId,
    },
    /// A message whose objects the SuperLink did not keep.
    #[error("the SuperLink dropped a message {tries} times before all of it had arrived")]
    NotStored {
        /// How often it was sent.
        tries: usize,
    },
    /// The SuperLink did not start a run.
    #[error("the SuperLink did not start a run: the bundle may be too large")]
    NotStarted,
    /// A bundle cannot be made.
    #[error("cannot make a Flower app bundle: {problem}")]
    Fab {
        /// Why.
        problem: String,
    },
}

impl From<CallError> for FlowerError {
    /// A caller that was accepted before and is refused now has lost its place: its task has ended,
    /// or its node was unregistered.
    fn from(error: CallError) -> Self {
        if error.is(Reason::Authentication) {
            Self::Lost {
                problem: error.to_string(),
            }
        } else {
            Self::Call(error)
        }
    }
}
