//! Sends requests to parties.

use std::time::Duration;

use super::{Coordinator, PartyError, Reply, Ticket};
use crate::api::{PUSH_TRIES, Pushed};
use crate::clock;
use crate::error::FlowerError;
use crate::id::{NodeId, SUPERLINK};
use crate::kind::MessageKind;
use crate::object::{encode_message, encode_payload};
use crate::payload::Payload;
use crate::wire::message::{Message, Metadata};
use crate::wire::record::RecordDict;
use crate::wire::runtime::{PushAppMessagesRequest, PushAppMessagesResponse};

impl Coordinator {
    /// Sends the same payload to parties, whose replies are wanted within `time`. The SuperLink
    /// gets the arrays once. There is one ticket for each party, in their order; a party that does
    /// not exist has one, too, which is answered with [`PartyError::Offline`].
    ///
    /// # Errors
    ///
    /// [`FlowerError::NotStored`] if the SuperLink drops the messages again and again;
    /// [`FlowerError::Lost`]; [`FlowerError::Call`].
    pub fn send(
        &mut self,
        to: &[NodeId],
        kind: &MessageKind,
        payload: &Payload,
        time: Duration,
    ) -> Result<Vec<Ticket>, FlowerError> {
        self.check_heartbeat()?;
        if to.is_empty() {
            return Ok(vec![]);
        }
        let content = encode_payload(payload);
        let (mut tickets, mut sets) = (vec![], vec![]);
        let mut push = PushAppMessagesRequest::default();
        for node in to {
            let mut metadata = self.metadata(*node, kind, time);
            let (id, message) = encode_message(&metadata, Ok(&content.tree));
            metadata.message_id = id.to_string();
            push.messages_list.push(Message {
                metadata: Some(metadata),
                // Flower wants it here, but empty; the content itself is among the objects.
                content: Some(RecordDict {}),
                error: None,
            });
            push.message_object_trees.push(message.tree.clone());
            tickets.push(Ticket {
                node: *node,
                message: id.to_string(),
            });
            sets.push(message);
        }
        let sets: Vec<_> = std::iter::once(&content).chain(&sets).collect();
        for _ in 0..PUSH_TRIES {
            let response: PushAppMessagesResponse = self.api.call("push-messages", &push)?;
            let (session, wanted) = (&response.session_id, &response.objects_to_push);
            if self
                .api
                .push_objects(self.token.run, session, wanted, &sets)?
                == Pushed::All
            {
                // A message without an id was refused, because its receiver is not there.
                for (ticket, id) in tickets.iter().zip(&response.message_ids) {
                    if id.is_empty() {
                        let reply = Reply::new(ticket, Err(PartyError::Offline));
                        self.failed.push_back(reply);
                    }
                }
                return Ok(tickets);
            }
        }
        Err(FlowerError::NotStored { tries: PUSH_TRIES })
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
