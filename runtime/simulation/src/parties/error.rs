//! Errors of messages between the server and parties.

use fedround_exec::CompileError;

/// Bytes could not be read as a [`Payload`](super::Payload).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// The bytes are not a safetensors file, or it is cut off or damaged.
    #[error("expected a message of a federation, found bytes that are none: {0}")]
    Layout(#[from] safetensors::SafeTensorError),
    /// The payload has no head.
    #[error("expected a message of a federation with a head `fedround`, found none")]
    NoHead,
    /// The head has another form than was expected.
    #[error("the head of a message cannot be read: {0}")]
    Head(#[from] serde_json::Error),
    /// A tensor has elements of a type that is not sent.
    #[error("tensor `{name}`: expected F32, I32 or F64, found {found}")]
    Element {
        /// The tensor.
        name: String,
        /// Its type.
        found: String,
    },
    /// Two tensors have one name.
    #[error("two tensors are called `{name}`")]
    Twice {
        /// The name.
        name: String,
    },
}

/// The values of a message do not match its region's table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContentError {
    /// A value is missing.
    #[error("expected `{name}`, found no such tensor or number")]
    Missing {
        /// Its name.
        name: String,
    },
    /// A tensor has another type or shape.
    #[error("`{name}`: expected {expected}, found {found}")]
    Shape {
        /// Its name.
        name: String,
        /// What the region's table says.
        expected: String,
        /// What was found.
        found: String,
    },
    /// A number or a label is out of range.
    #[error("`{name}`: expected {expected}, found {found}")]
    Value {
        /// Its name.
        name: String,
        /// The range in which it must be.
        expected: String,
        /// What was found.
        found: String,
    },
    /// Encoded parameters could not be decoded.
    #[error("`{name}`: {source}")]
    Encoded {
        /// Its name.
        name: String,
        /// Why not.
        source: fedround_codec::DecodeError,
    },
    /// The message has a value that the table does not have.
    #[error("found `{name}`, which the region neither receives nor sends")]
    Unexpected {
        /// Its name.
        name: String,
    },
    /// A value cannot be sent.
    #[error("`{name}`: expected {expected}, which can be sent, found another value")]
    Unsendable {
        /// Its name.
        name: String,
        /// Its kind.
        expected: &'static str,
    },
}

/// Why the rounds of a program are not an exchange of models.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoExchange {
    /// The program has other messages.
    #[error(
        "an exchange of models expects clients to {expected}, but this program's clients {found}"
    )]
    Other {
        /// What clients do in an exchange of models.
        expected: &'static str,
        /// What they do in this program.
        found: &'static str,
    },
    /// The program cannot be split between a server and parties.
    #[error(transparent)]
    Compile(#[from] CompileError),
}

/// Why a message is not part of an exchange of models.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// Its head cannot be read.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// Its values are not those of the exchange.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// A request does not ask to train, or a reply has no results.
    #[error("expected a request to train or what came of it, found another message")]
    Other,
    /// A host could not do what was requested.
    #[error("{0}")]
    Failed(String),
}
