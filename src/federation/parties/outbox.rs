//! Requests of a round that wait for each other: to announce them to the SuperLink in one call is cheaper.

use fedround_flower::{Form, MessageKind, NodeId, Outgoing, Payload, Record};
use fedround_simulation::parties::Ticket;

use super::super::message::own_bytes;

/// The most requests that are sent in one call, and the most bytes that they may have beside what they share.
const MOST: usize = 64;
const MOST_BYTES: usize = 64 << 20;

/// A request that was not sent yet.
pub(super) struct Queued {
    pub ticket: Ticket,
    pub to: NodeId,
    pub kind: MessageKind,
    pub content: Payload,
    pub form: Form,
}

impl Queued {
    /// The same for the SuperLink.
    pub fn outgoing(&self) -> Outgoing<'_> {
        Outgoing {
            to: std::slice::from_ref(&self.to),
            kind: &self.kind,
            payload: &self.content,
            form: self.form,
        }
    }
}

fn array_bytes(content: &Payload) -> usize {
    let arrays = content.records.values().filter_map(|record| match record {
        Record::Arrays(arrays) => Some(arrays.values()),
        _ => None,
    });
    arrays.flatten().map(|array| array.bytes().len()).sum()
}

/// Requests that are sent together.
#[derive(Default)]
pub(super) struct Outbox {
    queued: Vec<Queued>,
    bytes: usize,
}

impl Outbox {
    pub fn push(&mut self, request: Queued) {
        self.bytes += match request.form {
            Form::Inline => own_bytes(&request.content),
            // An app's model is in memory for each app.
            Form::Objects => array_bytes(&request.content),
        };
        self.queued.push(request);
    }

    /// Whether no more should be added.
    pub fn is_full(&self) -> bool {
        self.queued.len() >= MOST || self.bytes >= MOST_BYTES
    }

    /// All of them.
    pub fn take(&mut self) -> Vec<Queued> {
        std::mem::take(self).queued
    }
}
