//! What the coordinator asks a party for.

use std::time::Duration;

use super::Party;
use crate::clock;
use crate::error::FlowerError;
use crate::http::{Backoff, Reason};
use crate::id::RunId;
use crate::object::{ObjectError, ObjectId, decode_message};
use crate::payload::Payload;
use crate::wire::fleet::{PullMessagesRequest, PullMessagesResponse};
use crate::wire::message::{Message, Metadata, ObjectTree};

/// A request of the coordinator, which one reply answers.
#[derive(Clone, Debug)]
pub struct Request {
    /// The run that it belongs to.
    pub run: RunId,
    /// The type of the message, such as `train`.
    pub kind: String,
    /// The content.
    pub payload: Payload,
    pub(super) metadata: Metadata,
}

impl Request {
    /// How long a reply is still wanted, by this machine's clock.
    pub fn time_left(&self) -> Duration {
        let end = self.metadata.created_at + self.metadata.ttl;
        let left = (end - clock::unix_seconds()).clamp(0.0, 1e9);
        Duration::from_secs_f64(if left.is_nan() { 0.0 } else { left })
    }
}

/// Calls between polls wait at least and at most this long.
const POLL: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));

impl Party {
    /// The next request, if there is one. The SuperLink hands out each request once: a process
    /// that is killed afterwards does not see it again, and the coordinator learns at the request's
    /// deadline that there is no reply.
    ///
    /// # Errors
    ///
    /// [`FlowerError::Object`] for a request that cannot be read, to which the coordinator gets an
    /// error as a reply; the party may go on. [`FlowerError::Lost`] if the SuperLink does not
    /// accept this party any more; [`FlowerError::Call`].
    pub fn pull(&mut self) -> Result<Option<Request>, FlowerError> {
        self.check_heartbeat()?;
        let request = PullMessagesRequest {
            node: self.api.wire_node(),
        };
        let response: PullMessagesResponse = self.api.call("pull-messages", &request)?;
        let messages = response.messages_list.into_iter();
        let Some((message, tree)) = messages.zip(response.message_object_trees).next() else {
            return Ok(None);
        };
        let announced = message.metadata.clone().unwrap_or_default();
        match self.receive(message, &tree) {
            Ok(request) => Ok(Some(request)),
            // The run has ended since.
            Err(FlowerError::Call(error)) if error.is(Reason::RunNotRunning) => Ok(None),
            Err(FlowerError::Object(error)) => {
                self.refuse(announced, &format!("bad request: {error}"))?;
                Err(error.into())
            }
            Err(error) => Err(error),
        }
    }

    /// The next request, waited for, or nothing if none comes in this time. Polls less and less
    /// often, from every 0.1 s to every second.
    ///
    /// # Errors
    ///
    /// As [`Party::pull`].
    pub fn wait(&mut self, time: Duration) -> Result<Option<Request>, FlowerError> {
        let mut backoff = Backoff::new(POLL.0, POLL.1, time);
        loop {
            if let Some(request) = self.pull()? {
                return Ok(Some(request));
            }
            if !backoff.wait() {
                return Ok(None);
            }
        }
    }

    fn receive(&mut self, message: Message, tree: &ObjectTree) -> Result<Request, FlowerError> {
        let run = RunId(message.metadata.unwrap_or_default().run_id);
        let id = ObjectId::parse(&tree.object_id).ok_or_else(|| ObjectError::Id {
            found: tree.object_id.chars().take(80).collect(),
        })?;
        let mut objects = self.api.pull_objects(run, tree)?;
        self.api.confirm(run, &tree.object_id)?;
        let message = decode_message(&mut objects, id)?;
        let mut metadata = message.metadata;
        // Its object cannot name its own id.
        metadata.message_id = tree.object_id.clone();
        let payload = message.content.map_err(|error| ObjectError::Entry {
            id,
            problem: format!("the request is an error: {}", error.reason),
        })?;
        Ok(Request {
            run: RunId(metadata.run_id),
            kind: metadata.message_type.clone(),
            payload,
            metadata,
        })
    }
}
