//! The objects of one message: those that are sent, and those that were received.

use std::collections::{BTreeSet, HashMap};

use bytes::Bytes;
use indexmap::IndexMap;

use super::error::ObjectError;
use super::head::{Object, join};
use super::id::ObjectId;
use crate::wire::message::ObjectTree;

/// An object and all that it refers to, ready to be sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Encoded {
    /// The ids, as Flower announces them.
    pub(crate) tree: ObjectTree,
    /// The bytes, children before their parents.
    pub(crate) objects: IndexMap<String, Bytes>,
}

/// Collects the objects of a message.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    pub(crate) objects: IndexMap<String, Bytes>,
}

impl Encoder {
    /// Adds an object of these children, which may repeat.
    pub(super) fn add(&mut self, kind: &str, children: Vec<ObjectTree>, body: &[u8]) -> ObjectTree {
        let mut unique: IndexMap<String, ObjectTree> = IndexMap::new();
        for child in children {
            unique.entry(child.object_id.clone()).or_insert(child);
        }
        let ids: Vec<_> = unique.keys().cloned().collect();
        let bytes = join(kind, &ids, body);
        let object_id = ObjectId::of(&bytes).to_string();
        self.objects.insert(object_id.clone(), bytes);
        ObjectTree {
            object_id,
            children: unique.into_values().collect(),
        }
    }

    pub(super) fn finish(self, tree: ObjectTree) -> Encoded {
        Encoded {
            tree,
            objects: self.objects,
        }
    }
}

/// The ids of a tree, without repetition.
///
/// # Errors
///
/// [`ObjectError::Id`] for a text that is none.
pub(crate) fn tree_ids(tree: &ObjectTree) -> Result<BTreeSet<ObjectId>, ObjectError> {
    let mut found = BTreeSet::new();
    let mut next = vec![tree];
    while let Some(node) = next.pop() {
        let id = ObjectId::parse(&node.object_id).ok_or_else(|| ObjectError::Id {
            found: node.object_id.chars().take(80).collect(),
        })?;
        found.insert(id);
        next.extend(&node.children);
    }
    Ok(found)
}

/// Objects that came from elsewhere: each has the bytes of its id.
#[derive(Debug)]
pub(crate) struct ReceivedObjects {
    objects: HashMap<ObjectId, Bytes>,
    /// Bytes that may still be received, and as many that arrays may still be put together from.
    receivable: u64,
    joinable: u64,
    limit: u64,
}

impl ReceivedObjects {
    /// No objects yet, and at most `limit` bytes of them.
    pub(crate) fn new(limit: u64) -> Self {
        Self {
            objects: HashMap::new(),
            receivable: limit,
            joinable: limit,
            limit,
        }
    }

    /// Keeps the bytes that were received for an id.
    ///
    /// # Errors
    ///
    /// [`ObjectError::Bytes`] if they have another id; [`ObjectError::Limit`].
    pub(crate) fn insert(&mut self, expected: ObjectId, bytes: Bytes) -> Result<(), ObjectError> {
        let found = ObjectId::of(&bytes);
        if found != expected {
            return Err(ObjectError::Bytes { expected, found });
        }
        let left = self.receivable.checked_sub(bytes.len() as u64);
        self.receivable = left.ok_or(ObjectError::Limit { limit: self.limit })?;
        self.objects.insert(expected, bytes);
        Ok(())
    }

    /// Counts the bytes of an array before it is put together. One chunk may stand many times in it.
    pub(super) fn reserve(&mut self, bytes: u64) -> Result<(), ObjectError> {
        let left = self.joinable.checked_sub(bytes);
        self.joinable = left.ok_or(ObjectError::Limit { limit: self.limit })?;
        Ok(())
    }

    pub(super) fn get(&self, id: ObjectId) -> Result<Object, ObjectError> {
        let bytes = self.objects.get(&id).ok_or(ObjectError::Missing { id })?;
        Object::split(id, bytes)
    }
}
