//! The content of a message, Flower's `RecordDict`.

use super::error::ObjectError;
use super::id::ObjectId;
use super::record;
use super::set::{Encoder, ReceivedObjects};
use crate::payload::Payload;
use crate::wire::message::ObjectTree;

const RECORDS: &str = "RecordDict";

/// Adds the objects of a payload.
pub(super) fn encode(encoder: &mut Encoder, payload: &Payload) -> ObjectTree {
    record::encode_named(encoder, RECORDS, &payload.records, record::encode)
}

/// Reads a payload.
pub(super) fn decode(objects: &mut ReceivedObjects, id: ObjectId) -> Result<Payload, ObjectError> {
    let object = objects.get(id)?;
    object.expect(RECORDS)?;
    let records = record::decode_named(objects, &object, record::decode)?;
    Ok(Payload { records })
}
