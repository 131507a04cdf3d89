//! Receives the replies of parties.

use std::time::Duration;

use super::{Coordinator, PartyError, Reply, Ticket};
use crate::clock;
use crate::error::FlowerError;
use crate::http::Backoff;
use crate::object::{ObjectError, ObjectId, decode_message};
use crate::payload::Payload;
use crate::wire::message::{Error, Message, ObjectTree};
use crate::wire::runtime::{PullAppMessagesRequest, PullAppMessagesResponse};

/// Polls wait at least and at most this long.
const POLL: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// A reply that the SuperLink handed out.
#[derive(Debug)]
pub(super) struct Claimed {
    ticket: Ticket,
    /// How long it is wanted: a party that is killed while it sends never sends the rest.
    time: Duration,
    /// An error that the envelope brought along.
    error: Option<Error>,
    tree: ObjectTree,
}

impl Coordinator {
    /// The replies that are there, to these open requests. A request with a reply is not open any
    /// more: asked for again, it has expired.
    ///
    /// The SuperLink hands out each reply once. If this process is killed before the reply is used
    /// or written down, it is lost, and the party has to be asked again.
    ///
    /// # Errors
    ///
    /// [`FlowerError::Lost`] if the SuperLink does not accept this coordinator any more;
    /// [`FlowerError::Call`]. Replies that were handed out before the error come with the next
    /// poll. What goes wrong with one party is not an error of the poll.
    pub fn poll(&mut self, open: &[Ticket]) -> Result<Vec<Reply>, FlowerError> {
        let mut replies = vec![];
        while let Some(reply) = self.next_claimed(open, replies.is_empty())? {
            replies.push(reply);
        }
        Ok(replies)
    }

    /// The next reply, waited for, or nothing if none comes in this time. Holds the arrays of one
    /// reply at a time. Polls less and less often, from every 0.05 s to every second.
    ///
    /// # Errors
    ///
    /// As [`Coordinator::poll`].
    pub fn wait(&mut self, open: &[Ticket], time: Duration) -> Result<Option<Reply>, FlowerError> {
        if open.is_empty() {
            return Ok(None);
        }
        let mut backoff = Backoff::new(POLL.0, POLL.1, time);
        loop {
            if let Some(reply) = self.next_claimed(open, true)? {
                return Ok(Some(reply));
            }
            if !backoff.wait() {
                return Ok(None);
            }
        }
    }

    /// A reply that was handed out, or, if `ask`, one that the SuperLink hands out now.
    fn next_claimed(&mut self, open: &[Ticket], ask: bool) -> Result<Option<Reply>, FlowerError> {
        self.check_heartbeat()?;
        let failed = self.failed.iter();
        let wanted = failed.map(|reply| open.contains(&reply.ticket));
        if let Some(at) = wanted.enumerate().find_map(|(at, is)| is.then_some(at)) {
            return Ok(self.failed.remove(at));
        }
        if self.claimed.is_empty() && ask {
            self.claim(open)?;
        }
        let Some(claimed) = self.claimed.front() else {
            return Ok(None);
        };
        let content = self.receive(claimed)?;
        let claimed = self.claimed.pop_front();
        Ok(claimed.map(|claimed| Reply::new(&claimed.ticket, content)))
    }

    fn claim(&mut self, open: &[Ticket]) -> Result<(), FlowerError> {
        if open.is_empty() {
            return Ok(());
        }
        let request = PullAppMessagesRequest {
            message_ids: open.iter().map(|ticket| ticket.message.clone()).collect(),
        };
        let response: PullAppMessagesResponse = self.api.call("pull-messages", &request)?;
        let messages = response.messages_list.into_iter();
        for (message, tree) in messages.zip(response.message_object_trees) {
            let Message {
                metadata, error, ..
            } = message;
            let metadata = metadata.unwrap_or_default();
            let answered = &metadata.reply_to_message_id;
            // Messages that answer nothing are none of ours.
            if let Some(ticket) = open.iter().find(|ticket| ticket.message == *answered) {
                self.claimed.push_back(Claimed {
                    ticket: ticket.clone(),
                    time: clock::time_left(&metadata),
                    error,
                    tree,
                });
            }
        }
        Ok(())
    }

    /// The content of a reply. Only a SuperLink that is away is an error of the outer kind.
    fn receive(&self, claimed: &Claimed) -> Result<Result<Payload, PartyError>, FlowerError> {
        let content = match &claimed.error {
            Some(error) => Err(party_error(error)),
            None => match self.read(claimed) {
                Ok(content) => content,
                Err(FlowerError::Object(error)) => Err(PartyError::Failed(error.to_string())),
                Err(error) => return Err(error),
            },
        };
        self.api.confirm(self.token.run, &claimed.tree.object_id)?;
        Ok(content)
    }

    fn read(&self, claimed: &Claimed) -> Result<Result<Payload, PartyError>, FlowerError> {
        let Claimed {
            ticket, time, tree, ..
        } = claimed;
        let id = ObjectId::parse(&tree.object_id).ok_or_else(|| ObjectError::Id {
            found: tree.object_id.chars().take(80).collect(),
        })?;
        let mut objects = self.api.pull_objects(self.token.run, tree, *time)?;
        let message = decode_message(&mut objects, id)?;
        let metadata = message.metadata;
        if metadata.reply_to_message_id != ticket.message || metadata.src_node_id != ticket.node.0 {
            let problem = "the reply is to another request, or of another party".to_owned();
            return Err(ObjectError::Entry { id, problem }.into());
        }
        Ok(message.content.map_err(|error| party_error(&error)))
    }
}

fn party_error(error: &Error) -> PartyError {
    match error.code {
        3 | 4 => PartyError::Expired,
        5 => PartyError::Offline,
        code => PartyError::Failed(format!("{} (Flower's code {code})", error.reason)),
    }
}
