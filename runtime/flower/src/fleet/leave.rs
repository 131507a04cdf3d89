//! Takes a party offline after its last replies have arrived.

use std::time::Duration;

use super::Party;
use crate::clock;
use crate::error::FlowerError;
use crate::http::{Backoff, CallError, Reason};
use crate::id::RunId;
use crate::object::ObjectId;
use crate::wire::fleet::{
    DeactivateNodeRequest, DeactivateNodeResponse, PushMessagesRequest, PushMessagesResponse,
};

/// A reply that the coordinator may not have pulled yet.
#[derive(Debug)]
pub(super) struct OpenReply {
    pub(super) run: RunId,
    pub(super) message: Sent,
    /// When it expires, in seconds since 1970.
    pub(super) end: f64,
}

/// What the SuperLink has of a message until it was pulled.
#[derive(Debug)]
pub(super) enum Sent {
    /// The message's object, which its receiver pulls, and then confirms.
    Object(ObjectId),
    /// Only what announced it.
    Envelope(Box<PushMessagesRequest>),
}

impl Party {
    /// Waits until the coordinator has pulled this party's replies, but at most the settings'
    /// `linger`, and goes offline. Gives the number of replies that were not pulled, and are lost.
    ///
    /// # Errors
    ///
    /// [`FlowerError::Call`]; the SuperLink then takes the party for online until its heartbeat is
    /// overdue.
    pub fn leave(mut self) -> Result<usize, FlowerError> {
        let (first, longest) = (Duration::from_millis(100), Duration::from_secs(1));
        let mut backoff = Backoff::new(first, longest, self.settings.linger);
        while self.unpulled()? > 0 && backoff.wait() {}
        let lost = self.open_replies.len();
        self.confirmations.finish();
        // A beat after this would bring the node online again.
        self.heartbeat.stop();
        let request = DeactivateNodeRequest {
            node_id: self.api.node.0,
        };
        let _: DeactivateNodeResponse = self.api.call("deactivate-node", &request)?;
        Ok(lost)
    }

    /// The number of replies that the coordinator has not pulled.
    ///
    /// # Errors
    ///
    /// [`FlowerError::Call`].
    pub fn unpulled(&mut self) -> Result<usize, FlowerError> {
        let now = clock::unix_seconds();
        let mut open = vec![];
        for reply in std::mem::take(&mut self.open_replies) {
            if reply.end > now && self.is_stored(&reply)? {
                open.push(reply);
            }
        }
        self.open_replies = open;
        Ok(self.open_replies.len())
    }

    fn is_stored(&self, reply: &OpenReply) -> Result<bool, CallError> {
        let stored = match &reply.message {
            Sent::Object(id) => {
                let response = self.api.pull_object(reply.run, *id);
                response.map(|response| response.object_found)
            }
            // The SuperLink forgets a request when its reply was pulled, and then takes no other. Otherwise
            // it asks for the object that was never sent.
            Sent::Envelope(push) => {
                let response: Result<PushMessagesResponse, _> =
                    self.api.call("push-messages", push.as_ref());
                response.map(|response| !response.objects_to_push.is_empty())
            }
        };
        match stored {
            Ok(stored) => Ok(stored),
            // Nobody pulls the messages of a run that has ended.
            Err(error) if error.is(Reason::RunNotRunning) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
