//! Sends requests to parties.

use std::collections::HashSet;
use std::time::Duration;

use super::{Coordinator, PartyError, Reply, Ticket};
use crate::clock;
use crate::error::FlowerError;
use crate::form::Form;
use crate::id::{NodeId, SUPERLINK};
use crate::kind::MessageKind;
use crate::object::ContentEncoder;
use crate::payload::Payload;
use crate::wire::message::{Metadata, ObjectTree};
use crate::wire::runtime::{PushAppMessagesRequest, PushAppMessagesResponse};

/// The most bytes of a request's records that are in its envelope. The SuperLink reads the envelopes of all
/// open requests whenever it is asked for replies.
const ROOM: usize = 64 << 10;

/// A request to parties.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// The parties, which get the same.
    pub to: &'a [NodeId],
    /// The type of the message.
    pub kind: &'a MessageKind,
    /// The content.
    pub payload: &'a Payload,
    /// How it travels.
    pub form: Form,
}

impl Coordinator {
    /// Sends the same payload to parties, whose replies are wanted within `time`, in the form that all
    /// parties read. See [`Coordinator::send_all`].
    ///
    /// # Errors
    ///
    /// As [`Coordinator::send_all`].
    pub fn send(
        &mut self,
        to: &[NodeId],
        kind: &MessageKind,
        payload: &Payload,
        time: Duration,
    ) -> Result<Vec<Ticket>, FlowerError> {
        let form = Form::Objects;
        let outgoing = Outgoing {
            to,
            kind,
            payload,
            form,
        };
        self.send_all(&[outgoing], time)
    }

    /// Sends requests, whose replies are wanted within `time`. The SuperLink gets arrays that several of
    /// them have in common once. There is one ticket for each party of each request, in their order; a
    /// party that does not exist has one, too, which is answered with [`PartyError::Offline`].
    ///
    /// # Errors
    ///
    /// [`FlowerError::NotStored`] if the SuperLink drops the messages again and again;
    /// [`FlowerError::Lost`]; [`FlowerError::Call`].
    pub fn send_all(
        &mut self,
        requests: &[Outgoing<'_>],
        time: Duration,
    ) -> Result<Vec<Ticket>, FlowerError> {
        self.heartbeat.check()?;
        let mut encoder = ContentEncoder::default();
        let mut tickets = vec![];
        let mut push = PushAppMessagesRequest::default();
        // The inline messages so far. The last one lists the others as children, so that its confirmation deletes all.
        let mut inline = vec![];
        let of_form = requests.iter().filter(|sent| sent.form == Form::Inline);
        let inline_count: usize = of_form.map(|sent| sent.to.len()).sum();
        for request in requests {
            let content = encoder.encode(request.payload, request.form, ROOM);
            for node in request.to {
                let metadata = self.metadata(*node, request.kind, time);
                let carried = match request.form {
                    Form::Inline if inline.len() + 1 == inline_count => {
                        [inline.as_slice(), self.batches.replies.as_slice()].concat()
                    }
                    _ => vec![],
                };
                let (message, tree) = encoder.message(metadata, Ok(&content), &carried);
                tickets.push(Ticket {
                    node: *node,
                    message: tree.object_id.clone(),
                });
                if request.form == Form::Inline {
                    inline.push(tree.clone());
                }
                push.messages_list.push(message);
                push.message_object_trees.push(tree);
            }
        }
        if tickets.is_empty() {
            return Ok(tickets);
        }
        let run = self.token.run;
        let stored = self.api.push_messages(run, &push, &encoder, wanted)?;
        // A message without an id was refused, because its receiver is not there.
        for (ticket, id) in tickets.iter().zip(&stored.message_ids) {
            if id.is_empty() {
                let reply = Reply::new(ticket, Err(PartyError::Offline));
                self.failed.push_back(reply);
            }
        }
        self.keep(&inline, &stored.message_ids, time);
        self.pace.start();
        Ok(tickets)
    }

    /// Remembers what is to be deleted when these requests are answered, of which the SuperLink has some.
    fn keep(&mut self, inline: &[ObjectTree], stored: &[String], time: Duration) {
        let Some(carrier) = inline.last() else {
            return;
        };
        let stored: HashSet<&String> = stored.iter().collect();
        let stored: HashSet<String> = inline
            .iter()
            .map(|tree| &tree.object_id)
            .filter(|id| stored.contains(id))
            .cloned()
            .collect();
        let roots = match stored.contains(&carrier.object_id) {
            true => {
                self.batches.replies.clear();
                vec![carrier.object_id.clone()]
            }
            false => stored.iter().cloned().collect(),
        };
        self.batches.sent(roots, stored, time);
    }

    fn metadata(&self, node: NodeId, kind: &MessageKind, time: Duration) -> Metadata {
        Metadata {
            run_id: self.token.run.0,
            message_id: String::new(),
            src_node_id: SUPERLINK.0,
            dst_node_id: node.0,
            reply_to_message_id: String::new(),
            group_id: String::new(),
            ttl: time.as_secs_f64(),
            message_type: kind.as_str().to_owned(),
            created_at: clock::unix_seconds(),
        }
    }
}

/// The session and the objects that the SuperLink asks for.
fn wanted(response: &PushAppMessagesResponse) -> (&str, &[String]) {
    (&response.session_id, &response.objects_to_push)
}
