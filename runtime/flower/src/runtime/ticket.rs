//! Tickets for requests: a coordinator waits for the replies by them.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::id::NodeId;
use crate::payload::Payload;

/// A request that was sent. It may be written to a file, for a coordinator that is restarted while
/// it waits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ticket {
    /// The party that was asked.
    pub node: NodeId,
    /// The message.
    pub(super) message: String,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The request.
    pub ticket: Ticket,
    /// The party's answer.
    pub content: Result<Payload, PartyError>,
}

/// A party that gave no answer to a request. Other parties are not concerned.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PartyError {
    /// It is offline, or was when its reply was to be pulled (Flower's code 5).
    #[error("the party is offline")]
    Offline,
    /// The request's time is over, or the reply was handed out before (Flower's codes 3 and 4).
    #[error("the request has expired without a reply")]
    Expired,
    /// It answered with an error (Flower's other codes), or with bytes that are no reply.
    #[error("the party failed: {0}")]
    Failed(String),
}
