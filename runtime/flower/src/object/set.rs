//! The objects of messages: those that are sent, and those that were received.

use std::collections::HashMap;

use bytes::Bytes;
use indexmap::{IndexMap, IndexSet};

use super::error::ObjectError;
use super::head::{Object, join};
use super::id::ObjectId;
use crate::wire::message::ObjectTree;

/// Collects the objects of messages.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    /// The bytes, children before their parents.
    pub(super) objects: IndexMap<String, Bytes>,
}

impl Encoder {
    /// Adds an object of these children, which may repeat, and a body in pieces.
    pub(super) fn add(
        &mut self,
        kind: &str,
        children: Vec<ObjectTree>,
        body: &[&[u8]],
    ) -> ObjectTree {
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
}

/// The ids of trees, without repetition, in the order in which objects are sent: children before their
/// parents.
///
/// # Errors
///
/// [`ObjectError::Id`] for a text that is none.
pub(crate) fn ids_of_trees(trees: &[ObjectTree]) -> Result<IndexSet<ObjectId>, ObjectError> {
    // Parents before their children, the last child first.
    let mut nodes = vec![];
    let mut next: Vec<_> = trees.iter().collect();
    while let Some(node) = next.pop() {
        nodes.push(node);
        next.extend(&node.children);
    }
    nodes.into_iter().rev().map(id_of).collect()
}

/// The id of a tree's root.
///
/// # Errors
///
/// [`ObjectError::Id`] for a text that is none.
pub(crate) fn id_of(tree: &ObjectTree) -> Result<ObjectId, ObjectError> {
    ObjectId::parse(&tree.object_id).ok_or_else(|| ObjectError::Id {
        found: tree.object_id.chars().take(80).collect(),
    })
}

/// Checks that bytes are those of an id.
///
/// # Errors
///
/// [`ObjectError::Bytes`] if they have another id.
pub(crate) fn check_bytes(expected: ObjectId, bytes: &[u8]) -> Result<(), ObjectError> {
    let found = ObjectId::of(bytes);
    match found == expected {
        true => Ok(()),
        false => Err(ObjectError::Bytes { expected, found }),
    }
}

/// Objects that came from elsewhere, each with the bytes of its id.
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

    /// Keeps the bytes that were received for an id, and that were [checked](check_bytes).
    ///
    /// # Errors
    ///
    /// [`ObjectError::Limit`].
    pub(crate) fn insert(&mut self, id: ObjectId, bytes: Bytes) -> Result<(), ObjectError> {
        self.receive(bytes.len() as u64)?;
        self.objects.insert(id, bytes);
        Ok(())
    }

    /// Counts bytes that were received, also those that are no object.
    ///
    /// # Errors
    ///
    /// [`ObjectError::Limit`].
    pub(crate) fn receive(&mut self, bytes: u64) -> Result<(), ObjectError> {
        let left = self.receivable.checked_sub(bytes);
        self.receivable = left.ok_or(ObjectError::Limit { limit: self.limit })?;
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
