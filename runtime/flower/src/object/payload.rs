//! The content of a message, Flower's `RecordDict`.

use super::error::ObjectError;
use super::id::ObjectId;
use super::json::python_json;
use super::record;
use super::set::{Encoder, ReceivedObjects};
use crate::payload::Payload;
use crate::wire::message::ObjectTree;

const RECORDS: &str = "RecordDict";

/// Adds the objects of a payload.
pub(super) fn encode(encoder: &mut Encoder, payload: &Payload) -> ObjectTree {
    let mut children = vec![];
    let mut ids = serde_json::Map::new();
    for (name, value) in &payload.records {
        let child = record::encode(encoder, value);
        ids.insert(name.clone(), child.object_id.clone().into());
        children.push(child);
    }
    encoder.add(RECORDS, children, &[&python_json(&ids)])
}

/// Reads a payload.
pub(super) fn decode(objects: &mut ReceivedObjects, id: ObjectId) -> Result<Payload, ObjectError> {
    let object = objects.get(id)?;
    object.expect(RECORDS)?;
    let mut payload = Payload::new();
    for (name, child) in record::references(&object)? {
        payload
            .records
            .insert(name, record::decode(objects, child)?);
    }
    Ok(payload)
}
