//! Errors of messages between the server and parties.

use fedround_exec::CompileError;

/// Bytes are no [`Payload`](super::Payload).
#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    /// They are no safetensors file, or it is cut or damaged.
    #[error("expected a message of a federation, found bytes that are none: {0}")]
    Layout(#[from] safetensors::SafeTensorError),
    /// There is no head.
    #[error("expected a message of a federation with a head `fedround`, found none")]
    NoHead,
    /// The head is not what was expected.
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
}

/// A message has not what its region's table says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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
        /// What it is to be.
        expected: String,
        /// What was found.
        found: String,
    },
    /// Bytes that are no encoding of parameters.
    #[error("`{name}`: {source}")]
    Encoded {
        /// Its name.
        name: String,
        /// What is wrong with them.
        source: fedround_codec::DecodeError,
    },
    /// There is something that the table does not have.
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

/// Why a round is no exchange of models.
#[derive(Debug, thiserror::Error)]
pub enum NoExchange {
    /// It cannot run between a server and parties, or has other messages.
    #[error(
        "an exchange of models expects clients to {expected}, but this program's clients {found}"
    )]
    Other {
        /// What clients do in an exchange of models.
        expected: &'static str,
        /// What they do here.
        found: &'static str,
    },
    /// The program cannot be divided.
    #[error(transparent)]
    Compile(#[from] CompileError),
}

/// Why a message is none of an exchange of models.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// Its head cannot be read.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// Its values are not what crosses.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// A request has no region, or a reply no results.
    #[error("expected a request to train or what came of it, found another message")]
    Other,
    /// A host could not do what it was asked.
    #[error("{0}")]
    Failed(String),
}
