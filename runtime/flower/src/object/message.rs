//! Messages: metadata, and a payload or an error.

use prost::Message as _;

use super::error::ObjectError;
use super::id::ObjectId;
use super::payload;
use super::set::{Encoder, ReceivedObjects};
use crate::payload::Payload;
use crate::wire::message::{Error, Message, Metadata, ObjectTree};

const MESSAGE: &str = "Message";

/// A message that was received.
#[derive(Debug)]
pub(crate) struct Envelope {
    pub(crate) metadata: Metadata,
    pub(crate) content: Result<Payload, Error>,
}

/// The object of a message, whose payload is other objects already, or which is an error. The metadata
/// must have no id.
pub(super) fn encode(
    encoder: &mut Encoder,
    metadata: &Metadata,
    children: Vec<ObjectTree>,
    error: Option<&Error>,
) -> ObjectTree {
    let message = Message {
        metadata: Some(metadata.clone()),
        content: None,
        error: error.cloned(),
    };
    encoder.add(MESSAGE, children, &[&message.encode_to_vec()])
}

/// Reads a message.
pub(crate) fn decode_message(
    objects: &mut ReceivedObjects,
    id: ObjectId,
) -> Result<Envelope, ObjectError> {
    let object = objects.get(id)?;
    object.expect(MESSAGE)?;
    let message = Message::decode(object.body.clone())
        .map_err(|source| ObjectError::Protobuf { id, source })?;
    let metadata = message.metadata.ok_or_else(|| ObjectError::Entry {
        id,
        problem: "the message has no metadata".to_owned(),
    })?;
    let content = match (message.error, object.children.as_slice()) {
        (Some(error), []) => Err(error),
        (None, [child]) => Ok(payload::decode(objects, *child)?),
        _ => return Err(ObjectError::Children { id }),
    };
    Ok(Envelope { metadata, content })
}
