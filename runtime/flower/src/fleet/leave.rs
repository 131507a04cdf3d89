//! Takes a party offline after its last replies have arrived.

use std::time::Duration;

use super::Party;
use crate::clock;
use crate::error::FlowerError;
use crate::http::{Backoff, CallError, Reason};
use crate::id::RunId;
use crate::object::ObjectId;
use crate::wire::fleet::{DeactivateNodeRequest, DeactivateNodeResponse};

/// A reply that the coordinator may not have pulled yet.
#[derive(Debug)]
pub(super) struct OpenReply {
    pub(super) run: RunId,
    pub(super) message: ObjectId,
    /// When it expires, in seconds since 1970.
    pub(super) end: f64,
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

    /// The number of replies that the coordinator has not pulled. The SuperLink deletes a message
    /// when its receiver confirms it.
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
        match self.api.pull_object(reply.run, reply.message) {
            Ok(response) => Ok(response.object_found),
            // Nobody pulls the messages of a run that has ended.
            Err(error) if error.is(Reason::RunNotRunning) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
