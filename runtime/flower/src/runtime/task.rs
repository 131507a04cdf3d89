//! The task of a coordinator: it takes over a run at the SuperLink, and ends it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Coordinator;
use crate::api::{Api, Credentials};
use crate::auth::ExecutorSecret;
use crate::confirm::Confirmations;
use crate::control::Control;
use crate::error::FlowerError;
use crate::heartbeat::Heartbeat;
use crate::http::{Backoff, CallError, Connection, Reason};
use crate::id::{RunId, SUPERLINK};
use crate::pace::Pace;
use crate::wire::runtime::{
    AcquireTaskRequest, AcquireTaskResponse, PullTaskInputRequest, PullTaskInputResponse,
    PushTaskOutputRequest, PushTaskOutputResponse, SendTaskHeartbeatRequest,
    SendTaskHeartbeatResponse,
};

/// The SuperLink fails a task after 60 s without a heartbeat.
const HEARTBEAT: Duration = Duration::from_secs(20);
/// Polls for replies wait at least and at most this long.
const POLL: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(500));
/// Runs that are looked through for one that is pending before ours.
const LISTED_RUNS: u64 = 1000;

/// The right to serve a run. With it, another process of the coordinator can go on within one
/// minute. Whoever has it can read and answer for the run: write it to files that only their owner
/// may read.
#[derive(Clone, Serialize, Deserialize)]
pub struct TaskToken {
    /// The run.
    pub run: RunId,
    token: String,
}

impl std::fmt::Debug for TaskToken {
    /// Without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TaskToken({})", self.run)
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// All of it is done.
    Completed,
    /// It broke off, for this reason.
    Failed(String),
    /// It was stopped on purpose.
    Stopped,
}

impl Coordinator {
    /// Takes over a pending run, and waits for its task for at most `time`. `secret` is needed if
    /// the SuperLink has one.
    ///
    /// The SuperLink hands out tasks by age. This therefore waits as long as older runs are
    /// pending, instead of taking theirs.
    ///
    /// # Errors
    ///
    /// [`FlowerError::NoTask`] and [`FlowerError::OtherRunPending`] when the time is over;
    /// [`FlowerError::ForeignTask`] if two runs were started in the same moment, the other of which
    /// has then failed; [`FlowerError::Call`], with [`Reason::Authentication`] for a wrong secret.
    pub fn acquire(
        connection: &Connection,
        run: RunId,
        secret: Option<&ExecutorSecret>,
        time: Duration,
    ) -> Result<Self, FlowerError> {
        Self::acquire_in_turn(connection, run, (secret, time), |_| {})
    }

    /// As [`acquire`](Self::acquire). `waits` is told once of an older run that is waited for.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire), and [`FlowerError::Stopped`] if this process was asked to end.
    pub fn acquire_in_turn(
        connection: &Connection,
        run: RunId,
        (secret, time): (Option<&ExecutorSecret>, Duration),
        mut waits: impl FnMut(RunId),
    ) -> Result<Self, FlowerError> {
        let mut told = false;
        let control = Control::new(connection);
        let (first, longest) = (Duration::from_millis(100), Duration::from_secs(1));
        let mut backoff = Backoff::new(first, longest, time);
        loop {
            let older = pending_before(&control, run)?;
            if older.is_none()
                && let Some(token) = acquire_task(connection, run, secret)?
            {
                return Self::resume(connection, token);
            }
            if let Some(other) = older
                && !std::mem::replace(&mut told, true)
            {
                waits(other);
            }
            if connection.settings().stop.requested() {
                return Err(FlowerError::Stopped);
            }
            if !backoff.wait() {
                let waited = backoff.elapsed();
                return Err(match older {
                    Some(other) => FlowerError::OtherRunPending { run, other },
                    None => FlowerError::NoTask { run, waited },
                });
            }
        }
    }

    /// Goes on with a run that this or another process took over. Requests that are open there can
    /// be polled here by their tickets.
    ///
    /// # Errors
    ///
    /// [`FlowerError::Lost`] if the token is not valid any more, because a minute has passed
    /// without a heartbeat or the run has ended: then the run has to be started anew;
    /// [`FlowerError::Call`].
    pub fn resume(connection: &Connection, token: TaskToken) -> Result<Self, FlowerError> {
        let api = Api {
            connection: connection.clone(),
            name: "runtime",
            node: SUPERLINK,
            credentials: Credentials::Token(token.token.clone()),
        };
        let lost = |problem: String| FlowerError::Lost { problem };
        match beat(&api) {
            Ok(true) => {}
            Ok(false) => return Err(lost("the task has ended".to_owned())),
            Err(error) => return Err(error.into()),
        }
        let input: Result<PullTaskInputResponse, _> =
            api.call("pull-task-input", &PullTaskInputRequest {});
        match input {
            Ok(_) => {}
            // It is running already.
            Err(error) if error.is(Reason::TaskNotStarted) => {}
            Err(error) => return Err(error.into()),
        }
        let mut beating = api.clone();
        beating.connection = connection.with_patience(HEARTBEAT);
        let heartbeat = Heartbeat::start("fedround-heartbeat", HEARTBEAT, move || beat(&beating));
        let confirmations = Confirmations::start(api.clone());
        Ok(Self {
            confirmations: confirmations.map_err(FlowerError::Thread)?,
            api,
            token,
            heartbeat: heartbeat.map_err(FlowerError::Thread)?,
            batches: Default::default(),
            claimed: Default::default(),
            failed: Default::default(),
            pulled: Default::default(),
            pace: Pace::new(POLL.0, POLL.1),
        })
    }

    /// What another process needs to go on with this run.
    pub fn token(&self) -> &TaskToken {
        &self.token
    }

    /// Ends the run.
    ///
    /// # Errors
    ///
    /// [`FlowerError::Call`]; the SuperLink then fails the run after a minute.
    pub fn finish(mut self, outcome: RunOutcome) -> Result<(), FlowerError> {
        self.confirmations.finish();
        self.heartbeat.stop();
        Ok(push_output(&self.api, outcome)?)
    }
}

/// An older run that is pending.
fn pending_before(control: &Control, run: RunId) -> Result<Option<RunId>, FlowerError> {
    let runs = control.runs(LISTED_RUNS)?;
    // The newest comes first.
    let older = runs.iter().skip_while(|listed| listed.id != run).skip(1);
    let pending = older.filter(|listed| listed.status == "pending");
    Ok(pending.last().map(|listed| listed.id))
}

/// The task of the run, if it is the next one.
fn acquire_task(
    connection: &Connection,
    run: RunId,
    secret: Option<&ExecutorSecret>,
) -> Result<Option<TaskToken>, FlowerError> {
    let request = AcquireTaskRequest {
        supported_task_types: vec!["flwr-serverapp".to_owned()],
    };
    let response: Result<AcquireTaskResponse, _> =
        connection.call("runtime/acquire-task", &request, &|body| {
            secret.map_or_else(|| Ok(vec![]), |secret| secret.headers(body))
        });
    // A refusal is about the secret here, not about a task.
    let response = response.map_err(FlowerError::Call)?;
    let Some(task) = response.task else {
        return Ok(None);
    };
    let token = TaskToken {
        run: RunId(task.run_id),
        token: response.token,
    };
    if token.run == run {
        return Ok(Some(token));
    }
    // A task cannot be given back. Its owner learns it at once this way.
    let other = token.run;
    let api = Api {
        connection: connection.clone(),
        name: "runtime",
        node: SUPERLINK,
        credentials: Credentials::Token(token.token),
    };
    let reason = format!("the coordinator of run {run} got the task of this run");
    push_output(&api, RunOutcome::Failed(reason))?;
    Err(FlowerError::ForeignTask { run, other })
}

fn push_output(api: &Api, outcome: RunOutcome) -> Result<(), CallError> {
    let (sub_status, details) = match outcome {
        RunOutcome::Completed => ("completed", String::new()),
        RunOutcome::Failed(reason) => ("failed", reason),
        RunOutcome::Stopped => ("stopped", String::new()),
    };
    let request = PushTaskOutputRequest {
        sub_status: sub_status.to_owned(),
        details,
    };
    let _: PushTaskOutputResponse = api.call("push-task-output", &request)?;
    Ok(())
}

/// Whether the task still runs.
fn beat(api: &Api) -> Result<bool, CallError> {
    let response: SendTaskHeartbeatResponse =
        api.call("send-task-heartbeat", &SendTaskHeartbeatRequest {})?;
    Ok(response.success)
}
