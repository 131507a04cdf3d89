//! A coordinator's request to a party.

use std::time::{Duration, Instant};

use super::Party;
use crate::api::form;
use crate::clock;
use crate::error::FlowerError;
use crate::form::Form;
use crate::http::Reason;
use crate::id::RunId;
use crate::object::{ObjectError, id_of};
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
    pub(super) form: Form,
}

impl Request {
    /// How long a reply is still wanted, by this machine's clock.
    pub fn time_left(&self) -> Duration {
        clock::time_left(&self.metadata)
    }
}

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
        self.heartbeat.check()?;
        let request = PullMessagesRequest {
            node: self.api.wire_node(),
        };
        let start = Instant::now();
        let response: PullMessagesResponse = self.api.call("pull-messages", &request)?;
        self.pace.took(start.elapsed());
        let messages = response.messages_list.into_iter();
        let Some((message, tree)) = messages.zip(response.message_object_trees).next() else {
            self.pace.asked();
            return Ok(None);
        };
        let announced = message.metadata.clone().unwrap_or_default();
        self.pace.came();
        self.pace.start();
        if form(&message) == Form::Inline {
            // A coordinator of ours asks one thing after the other: it has the replies to earlier requests.
            let run = RunId(announced.run_id);
            self.open_replies.retain(|reply| reply.run != run);
        }
        match self.receive(&message, &tree) {
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

    /// The next request, waited for, or nothing if none comes in this time. Polls every 0.1 to 2 s: seldom
    /// before the time that the last requests took to come, and then less and less often.
    ///
    /// # Errors
    ///
    /// As [`Party::pull`].
    pub fn wait(&mut self, time: Duration) -> Result<Option<Request>, FlowerError> {
        let start = Instant::now();
        loop {
            if !self.pace.sleep(time.saturating_sub(start.elapsed())) {
                return Ok(None);
            }
            if let Some(request) = self.pull()? {
                return Ok(Some(request));
            }
        }
    }

    fn receive(&mut self, sent: &Message, tree: &ObjectTree) -> Result<Request, FlowerError> {
        let announced = sent.metadata.clone().unwrap_or_default();
        let run = RunId(announced.run_id);
        let time = clock::time_left(&announced);
        let message = self.api.pull_message(run, sent, tree, time);
        // The coordinator deletes a request of our form itself, together with those of other parties.
        if !matches!(message, Err(FlowerError::Call(_))) && form(sent) == Form::Objects {
            self.confirmations.add(run, &tree.object_id);
        }
        let message = message?;
        let mut metadata = message.metadata;
        // Its object cannot name its own id.
        metadata.message_id = tree.object_id.clone();
        let id = id_of(tree)?;
        let payload = message.content.map_err(|error| ObjectError::Entry {
            id,
            problem: format!("the request is an error: {}", error.reason),
        })?;
        Ok(Request {
            run: RunId(metadata.run_id),
            kind: metadata.message_type.clone(),
            payload,
            metadata,
            form: form(sent),
        })
    }
}
