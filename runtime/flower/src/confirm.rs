//! A thread that tells the SuperLink which messages have arrived, so that it deletes their objects.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::api::Api;
use crate::http::CallError;
use crate::id::RunId;

/// A message's own object may still be on its way to the SuperLink when all else of the message has arrived.
/// The SuperLink takes an object that comes after its deletion for an error of the sender.
const AFTER: Duration = Duration::from_secs(1);

/// How long a SuperLink that is away is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// Confirms messages some time after they were received, while other work goes on. Those that are left are
/// confirmed at once when it is dropped, by the thread, or before [`finish`](Self::finish) returns.
#[derive(Debug)]
pub(crate) struct Confirmations {
    received: Sender<Received>,
    thread: JoinHandle<()>,
}

#[derive(Debug)]
struct Received {
    run: RunId,
    message: String,
    due: Instant,
}

impl Confirmations {
    /// By this API.
    pub(crate) fn start(mut api: Api) -> std::io::Result<Self> {
        api.connection = api.connection.with_patience(PATIENCE);
        let (sender, receiver) = channel();
        let thread = std::thread::Builder::new()
            .name("fedround-confirm".to_owned())
            .spawn(move || confirm_all(&api, &receiver))?;
        Ok(Self {
            received: sender,
            thread,
        })
    }

    /// A message has arrived.
    pub(crate) fn add(&self, run: RunId, message: &str) {
        let received = Received {
            run,
            message: message.to_owned(),
            due: Instant::now() + AFTER,
        };
        // Without its thread, the SuperLink keeps the objects until the run ends.
        let _ = self.received.send(received);
    }

    /// Confirms those that are left.
    pub(crate) fn finish(self) {
        drop(self.received);
        let _ = self.thread.join();
    }
}

fn confirm_all(api: &Api, receiver: &Receiver<Received>) {
    let mut waiting: VecDeque<Received> = VecDeque::new();
    loop {
        let next = waiting.front().map(|received| received.due);
        let received = match next {
            None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => receiver.recv_timeout(due.saturating_duration_since(Instant::now())),
        };
        match received {
            Ok(received) => waiting.push_back(received),
            Err(RecvTimeoutError::Timeout) => {
                if let Some(first) = waiting.pop_front() {
                    let _ = confirm(api, &first);
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let away = |result| matches!(result, Err(CallError::Unreachable { .. }));
    let _ = waiting.iter().any(|left| away(confirm(api, left)));
}

/// Confirms one message. An error can mean that the run has ended, which deletes unconfirmed messages.
fn confirm(api: &Api, received: &Received) -> Result<(), CallError> {
    api.confirm(received.run, &received.message)
}
