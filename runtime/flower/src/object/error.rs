//! Bytes that are no object, or not the one that was asked for.

use thiserror::Error;

use super::id::ObjectId;
use crate::array::NpyError;

/// Bytes that do not decode to the message that was announced. Nothing of such a message is used.
#[derive(Debug, Error)]
pub enum ObjectError {
    /// An id that is not 64 lower-case hexadecimal digits.
    #[error("{found:?} is no object id, expected 64 lower-case hexadecimal digits")]
    Id {
        /// The text in its place.
        found: String,
    },
    /// The bytes have another id than the one they were asked for by.
    #[error("object {expected} has the bytes of object {found}")]
    Bytes {
        /// The id that was asked for.
        expected: ObjectId,
        /// The id of the bytes.
        found: ObjectId,
    },
    /// An object refers to one that was not sent.
    #[error("object {id} is referred to, but was not sent")]
    Missing {
        /// The object that is missing.
        id: ObjectId,
    },
    /// The head cannot be read.
    #[error(
        "object {id} does not begin with a kind, its children and a length, but with {found:?}"
    )]
    Head {
        /// The object.
        id: ObjectId,
        /// Its beginning.
        found: String,
    },
    /// An object of another kind stands in this place.
    #[error("object {id} is of kind {found}, expected {expected}")]
    Kind {
        /// The object.
        id: ObjectId,
        /// The kind that fits here.
        expected: &'static str,
        /// Its kind.
        found: String,
    },
    /// The body is longer or shorter than the head says.
    #[error("the body of object {id} has {found} bytes, its head says {expected}")]
    Length {
        /// The object.
        id: ObjectId,
        /// The bytes that the head promises.
        expected: usize,
        /// The bytes that are there.
        found: usize,
    },
    /// The body refers to other children than the head lists.
    #[error("the head and the body of object {id} name different children")]
    Children {
        /// The object.
        id: ObjectId,
    },
    /// A body in JSON cannot be read.
    #[error("the body of object {id} is not the JSON that its kind has: {source}")]
    Json {
        /// The object.
        id: ObjectId,
        /// Where and why.
        source: serde_json::Error,
    },
    /// A body in protobuf cannot be read.
    #[error("the body of object {id} is not the protobuf message that its kind has: {source}")]
    Protobuf {
        /// The object.
        id: ObjectId,
        /// Why.
        source: prost::DecodeError,
    },
    /// An entry of a record or of a message lacks a part, or has the name of another one.
    #[error("object {id}: {problem}")]
    Entry {
        /// The object.
        id: ObjectId,
        /// The entry and what is wrong with it.
        problem: String,
    },
    /// An array's bytes cannot be read.
    #[error("array {id}: {source}")]
    Array {
        /// The array's object.
        id: ObjectId,
        /// Why.
        source: NpyError,
    },
    /// The message is larger than this side accepts.
    #[error("the message has more than the {limit} bytes that are accepted")]
    Limit {
        /// The bytes that are accepted.
        limit: u64,
    },
}
