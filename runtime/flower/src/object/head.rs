//! `KIND CHILD,CHILD LENGTH`, a zero byte, and the body.

use std::collections::BTreeSet;

use bytes::Bytes;

use super::error::ObjectError;
use super::id::ObjectId;

/// An object, taken apart.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) id: ObjectId,
    pub(super) kind: String,
    /// Without repetition, in the order of the body.
    pub(super) children: Vec<ObjectId>,
    pub(super) body: Bytes,
}

/// The bytes of an object, whose body is these pieces.
pub(super) fn join(kind: &str, children: &[String], body: &[&[u8]]) -> Bytes {
    let length: usize = body.iter().map(|piece| piece.len()).sum();
    let head = format!("{kind} {} {length}\0", children.join(","));
    let mut bytes = Vec::with_capacity(head.len() + length);
    bytes.extend_from_slice(head.as_bytes());
    body.iter().for_each(|piece| bytes.extend_from_slice(piece));
    bytes.into()
}

impl Object {
    /// Takes the bytes of an object apart.
    pub(super) fn split(id: ObjectId, bytes: &Bytes) -> Result<Self, ObjectError> {
        let wrong = || ObjectError::Head {
            id,
            found: String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned(),
        };
        let end = bytes.iter().position(|byte| *byte == 0);
        let end = end.ok_or_else(wrong)?;
        let head = std::str::from_utf8(&bytes[..end]).map_err(|_| wrong())?;
        let mut parts = head.split(' ');
        let (Some(kind), Some(children), Some(length), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(wrong());
        };
        let expected = length.parse().map_err(|_| wrong())?;
        let body = bytes.slice(end + 1..);
        if body.len() != expected {
            let found = body.len();
            return Err(ObjectError::Length {
                id,
                expected,
                found,
            });
        }
        let children: Option<_> = match children {
            "" => Some(vec![]),
            ids => ids.split(',').map(ObjectId::parse).collect(),
        };
        Ok(Self {
            id,
            kind: kind.to_owned(),
            children: children.ok_or_else(wrong)?,
            body,
        })
    }

    /// Refuses an object of another kind.
    pub(super) fn expect(&self, kind: &'static str) -> Result<(), ObjectError> {
        if self.kind == kind {
            return Ok(());
        }
        Err(ObjectError::Kind {
            id: self.id,
            expected: kind,
            found: self.kind.chars().take(40).collect(),
        })
    }

    /// Refuses a body that does not name exactly the children of the head.
    pub(super) fn expect_children(&self, named: &[ObjectId]) -> Result<(), ObjectError> {
        let listed: BTreeSet<_> = self.children.iter().collect();
        if listed == named.iter().collect() {
            return Ok(());
        }
        Err(ObjectError::Children { id: self.id })
    }
}
