//! Receives the replies of parties.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Coordinator, PartyError, Reply, Ticket};
use crate::api::{Api, form};
use crate::clock;
use crate::error::FlowerError;
use crate::form::Form;
use crate::id::RunId;
use crate::object::{ObjectError, id_of};
use crate::parallel;
use crate::payload::Payload;
use crate::wire::message::{Error, Message, ObjectTree};
use crate::wire::runtime::{PullAppMessagesRequest, PullAppMessagesResponse};

/// How many replies are asked for in one call. Their envelopes come all at once.
const ASKED: usize = 64;
/// How many replies are pulled at the same time, if each is small.
const TOGETHER: usize = 4;

/// A reply that the SuperLink handed out.
#[derive(Debug)]
pub(super) struct Claimed {
    ticket: Ticket,
    /// How long it is wanted: a party that is killed while it sends never sends the rest.
    time: Duration,
    envelope: Message,
    tree: ObjectTree,
}

impl Claimed {
    /// Whether it is all in its envelope.
    fn is_empty(&self) -> bool {
        form(&self.envelope) == Form::Inline && self.tree.children.is_empty()
    }

    /// Whether it is at most one object beside its envelope.
    fn is_small(&self) -> bool {
        match self.tree.children.as_slice() {
            [] => true,
            [child] => form(&self.envelope) == Form::Inline && child.children.is_empty(),
            _ => false,
        }
    }
}

impl Coordinator {
    /// The next reply to these open requests, waited for, or nothing if none comes in this time. Holds the
    /// arrays of one large reply at a time, or of a few small ones. Polls every 0.05 to 0.5 s: not before the
    /// time that the last replies took to come, and then less and less often. A request with a reply is not
    /// open any more: asked for again, it has expired.
    ///
    /// The SuperLink hands out each reply once. If this process is killed before the reply is used
    /// or written down, it is lost, and the party has to be asked again.
    ///
    /// # Errors
    ///
    /// [`FlowerError::Lost`] if the SuperLink does not accept this coordinator any more;
    /// [`FlowerError::Call`]. Replies that were handed out before the error come with the next
    /// call. What goes wrong with one party is not an error.
    pub fn wait(&mut self, open: &[Ticket], time: Duration) -> Result<Option<Reply>, FlowerError> {
        if open.is_empty() {
            return Ok(None);
        }
        let start = Instant::now();
        loop {
            if let Some(reply) = self.next_claimed(open)? {
                return Ok(Some(reply));
            }
            if !self.pace.sleep(time.saturating_sub(start.elapsed())) {
                return Ok(None);
            }
            self.claim(open)?;
        }
    }

    /// Drops what was handed out in reply to requests that are waited for no longer.
    pub fn forget(&mut self, requests: &[Ticket]) {
        let is_wanted = |ticket: &Ticket| !requests.contains(ticket);
        self.failed.retain(|reply| is_wanted(&reply.ticket));
        self.pulled.retain(|reply| is_wanted(&reply.ticket));
        let claimed = std::mem::take(&mut self.claimed).into_iter();
        let (wanted, dropped): (VecDeque<_>, VecDeque<_>) =
            claimed.partition(|claimed| is_wanted(&claimed.ticket));
        self.claimed = wanted;
        for claimed in dropped {
            self.confirm(&claimed);
        }
    }

    /// Tells the SuperLink, with the next confirmations, that it need not keep a reply any longer.
    fn confirm(&mut self, claimed: &Claimed) {
        match claimed.is_empty() {
            true => self.batches.replies.push(claimed.tree.clone()),
            false => {
                let message = &claimed.tree.object_id;
                self.confirmations.add(self.token.run, message);
            }
        }
    }

    /// A reply to one of these requests that was handed out. Replies to others stay: who polls for those gets them.
    fn next_claimed(&mut self, open: &[Ticket]) -> Result<Option<Reply>, FlowerError> {
        self.heartbeat.check()?;
        if let Some(reply) = take_reply(&mut self.failed, open) {
            return Ok(Some(reply));
        }
        if let Some(reply) = take_reply(&mut self.pulled, open) {
            return Ok(Some(reply));
        }
        self.pull_claimed(open)?;
        Ok(take_reply(&mut self.pulled, open))
    }

    /// Pulls the next large reply to these requests, or the next small ones.
    fn pull_claimed(&mut self, open: &[Ticket]) -> Result<(), FlowerError> {
        let claimed = std::mem::take(&mut self.claimed).into_iter();
        let (mut wanted, others): (VecDeque<_>, VecDeque<_>) =
            claimed.partition(|claimed| open.contains(&claimed.ticket));
        let small = wanted.iter().take(TOGETHER);
        let small = small.take_while(|claimed| claimed.is_small()).count();
        let count = small.max(1).min(wanted.len());
        let claimed: Vec<_> = wanted.drain(..count).collect();
        let contents = Mutex::new(vec![None; count]);
        let places: Vec<_> = (0..count).collect();
        let result = parallel::for_each(&places, |&at| {
            let content = receive(&self.api, self.token.run, &claimed[at])?;
            contents.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(content);
            Ok(())
        });
        let contents = contents
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let mut left = VecDeque::new();
        for (claimed, content) in claimed.into_iter().zip(contents) {
            match content {
                Some(content) => {
                    self.confirm(&claimed);
                    self.pulled.push_back(Reply::new(&claimed.ticket, content));
                }
                None => left.push_back(claimed),
            }
        }
        left.append(&mut wanted);
        left.extend(others);
        self.claimed = left;
        result
    }

    /// Asks the SuperLink for replies.
    fn claim(&mut self, open: &[Ticket]) -> Result<(), FlowerError> {
        self.heartbeat.check()?;
        for open in open.chunks(ASKED) {
            let request = PullAppMessagesRequest {
                message_ids: open.iter().map(|ticket| ticket.message.clone()).collect(),
            };
            let start = Instant::now();
            let response: PullAppMessagesResponse = self.api.call("pull-messages", &request)?;
            self.pace.took(start.elapsed());
            let before = self.claimed.len();
            let messages = response.messages_list.into_iter();
            for (envelope, tree) in messages.zip(response.message_object_trees) {
                let metadata = envelope.metadata.clone().unwrap_or_default();
                let answered = &metadata.reply_to_message_id;
                // Messages that answer nothing are none of ours.
                if let Some(ticket) = open.iter().find(|ticket| ticket.message == *answered) {
                    for message in self.batches.answered(answered) {
                        self.confirmations.add(self.token.run, &message);
                    }
                    self.claimed.push_back(Claimed {
                        ticket: ticket.clone(),
                        time: clock::time_left(&metadata),
                        envelope,
                        tree,
                    });
                }
            }
            if self.claimed.len() > before {
                self.pace.came();
                break;
            }
        }
        self.pace.asked();
        Ok(())
    }
}

/// Takes the first reply to one of these requests, and leaves the others.
fn take_reply(replies: &mut VecDeque<Reply>, open: &[Ticket]) -> Option<Reply> {
    let at = replies
        .iter()
        .position(|reply| open.contains(&reply.ticket))?;
    replies.remove(at)
}

/// The content of a reply. Only a SuperLink that is away is an error of the outer kind.
fn receive(
    api: &Api,
    run: RunId,
    claimed: &Claimed,
) -> Result<Result<Payload, PartyError>, FlowerError> {
    if let Some(error) = &claimed.envelope.error {
        return Ok(Err(party_error(error)));
    }
    match read(api, run, claimed) {
        Err(FlowerError::Object(error)) => Ok(Err(PartyError::Failed(error.to_string()))),
        content => content,
    }
}

fn read(
    api: &Api,
    run: RunId,
    claimed: &Claimed,
) -> Result<Result<Payload, PartyError>, FlowerError> {
    let Claimed { ticket, tree, .. } = claimed;
    let message = api.pull_message(run, &claimed.envelope, tree, claimed.time)?;
    let metadata = message.metadata;
    if metadata.reply_to_message_id != ticket.message || metadata.src_node_id != ticket.node.0 {
        let (id, problem) = (
            id_of(tree)?,
            "the reply is to another request, or of another party".to_owned(),
        );
        return Err(ObjectError::Entry { id, problem }.into());
    }
    Ok(message.content.map_err(|error| party_error(&error)))
}

fn party_error(error: &Error) -> PartyError {
    match error.code {
        3 | 4 => PartyError::Expired,
        5 => PartyError::Offline,
        code => PartyError::Failed(format!("{} (Flower's code {code})", error.reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::NodeId;

    fn ticket(node: u64) -> Ticket {
        let message = format!("message {node}");
        Ticket {
            node: NodeId(node),
            message,
        }
    }

    #[test]
    fn replies_to_others_requests_are_kept_for_them() {
        let replies = [1, 2, 3].map(|node| Reply::new(&ticket(node), Err(PartyError::Offline)));
        let mut replies = VecDeque::from(replies);
        let mut taken = |open: &[u64]| {
            let open: Vec<Ticket> = open.iter().copied().map(ticket).collect();
            take_reply(&mut replies, &open).map(|reply| reply.ticket.node.0)
        };
        assert_eq!(taken(&[7]), None);
        assert_eq!(taken(&[7, 3, 2]), Some(2));
        assert_eq!(taken(&[7, 3, 2]), Some(3));
        assert_eq!(taken(&[7, 3, 2]), None);
        assert_eq!(taken(&[1]), Some(1));
    }
}
