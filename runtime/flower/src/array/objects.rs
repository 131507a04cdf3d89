//! The objects that an array becomes in a message: they are made and hashed once, however many messages
//! have the array.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use indexmap::IndexMap;

use crate::wire::message::ObjectTree;

/// Objects by their ids, and how they refer to each other.
pub(crate) type Objects = (ObjectTree, IndexMap<String, Bytes>);

/// The objects of an array and all its clones.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArrayObjects(pub(crate) Arc<OnceLock<Objects>>);

/// They follow from the array's elements.
impl PartialEq for ArrayObjects {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for ArrayObjects {}
