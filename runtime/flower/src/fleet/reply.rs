//! A party's reply to a request.

use super::leave::{OpenReply, Sent};
use super::{Party, Request};
use crate::clock;
use crate::error::FlowerError;
use crate::http::Reason;
use crate::id::{NodeId, RunId, SUPERLINK};
use crate::object::{Content, ContentEncoder, id_of};
use crate::payload::Payload;
use crate::wire::fleet::{PushMessagesRequest, PushMessagesResponse};
use crate::wire::message::{Error, Metadata};

/// The app of a client raised an exception, in Flower's terms.
const APP_FAILED: i64 = 2;
/// The most bytes of a reply's records that are in its envelope. The coordinator takes envelopes of several
/// replies in one call.
const ROOM: usize = 1 << 20;

/// What became of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The SuperLink has it, unless the request expired on the way.
    Sent,
    /// The request had expired, or its run had ended: nothing was sent.
    TooLate,
}

impl Party {
    /// Answers a request with a payload.
    ///
    /// # Errors
    ///
    /// [`FlowerError::NotStored`] if the SuperLink drops the reply again and again;
    /// [`FlowerError::ForeignRequest`]; [`FlowerError::Lost`]; [`FlowerError::Call`].
    pub fn reply(&mut self, request: &Request, payload: &Payload) -> Result<Delivery, FlowerError> {
        let mut encoder = ContentEncoder::default();
        let content = encoder.encode(payload, request.form, ROOM);
        self.deliver(&request.metadata, encoder, Ok(&content))
    }

    /// Answers a request with the reason why there is no payload. The coordinator gets
    /// [`crate::PartyError::Failed`].
    ///
    /// # Errors
    ///
    /// As [`Party::reply`].
    pub fn fail(&mut self, request: &Request, reason: &str) -> Result<Delivery, FlowerError> {
        self.refuse(request.metadata.clone(), reason)
    }

    pub(super) fn refuse(
        &mut self,
        request: Metadata,
        reason: &str,
    ) -> Result<Delivery, FlowerError> {
        let error = Error {
            code: APP_FAILED,
            reason: reason.to_owned(),
        };
        self.deliver(&request, ContentEncoder::default(), Err(&error))
    }

    fn deliver(
        &mut self,
        request: &Metadata,
        mut encoder: ContentEncoder<'_>,
        content: Result<&Content, &Error>,
    ) -> Result<Delivery, FlowerError> {
        self.heartbeat.check()?;
        if request.dst_node_id != self.api.node.0 {
            return Err(FlowerError::ForeignRequest {
                request: NodeId(request.dst_node_id),
                party: self.api.node,
            });
        }
        let now = clock::unix_seconds();
        let ttl = request.created_at + request.ttl - now;
        if ttl.is_nan() || ttl <= 0.0 {
            return Ok(Delivery::TooLate);
        }
        let metadata = Metadata {
            run_id: request.run_id,
            message_id: String::new(),
            src_node_id: self.api.node.0,
            dst_node_id: SUPERLINK.0,
            reply_to_message_id: request.message_id.clone(),
            group_id: request.group_id.clone(),
            ttl,
            message_type: request.message_type.clone(),
            created_at: now,
        };
        let (message, tree) = encoder.message(metadata, content, &[]);
        let id = id_of(&tree)?;
        let unread = encoder.is_unread(&tree.object_id);
        let push = PushMessagesRequest {
            node: self.api.wire_node(),
            messages_list: vec![message],
            message_object_trees: vec![tree],
        };
        let run = RunId(request.run_id);
        let pushed = self.api.push_messages(run, &push, &encoder, wanted);
        match pushed {
            Ok(_) => {}
            Err(FlowerError::Call(error)) if error.is(Reason::RunNotRunning) => {
                return Ok(Delivery::TooLate);
            }
            Err(error) => return Err(error),
        }
        self.pace.asked();
        self.open_replies.push(OpenReply {
            run,
            message: match unread {
                true => Sent::Envelope(Box::new(push)),
                false => Sent::Object(id),
            },
            end: now + ttl,
        });
        self.open_replies.retain(|reply| reply.end > now);
        Ok(Delivery::Sent)
    }
}

/// The session and the objects that the SuperLink asks for.
fn wanted(response: &PushMessagesResponse) -> (&str, &[String]) {
    (&response.session_id, &response.objects_to_push)
}
