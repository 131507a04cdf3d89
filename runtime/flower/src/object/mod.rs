//! Flower's inflatable objects: how a message and its arrays become pieces that are named by the
//! SHA-256 of their bytes.
//!
//! An object is a head, a zero byte and a body. The head names the kind, the ids of the children and
//! the length of the body. Equal pieces have equal ids, so that the parameters of a model go to the
//! SuperLink once, however many parties receive them. Decoding trusts nothing: ids, kinds, lengths
//! and references are checked, and bytes that do not fit are an [`ObjectError`].

mod array;
mod content;
mod error;
mod head;
mod id;
mod json;
mod message;
mod payload;
mod record;
mod set;

#[cfg(test)]
mod tests;

pub(crate) use content::{Content, ContentEncoder, InlineRecords};
pub use error::ObjectError;
pub use id::ObjectId;
pub(crate) use message::{Envelope, decode_message};
pub(crate) use set::{ReceivedObjects, check_bytes, id_of, ids_of_trees};
