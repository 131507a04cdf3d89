//! The side of a party (Flower's Fleet API): it joins a SuperLink, answers requests, and leaves.

mod join;
mod leave;
mod reply;
mod request;
mod settings;
mod state;

use crate::api::Api;
use crate::confirm::Confirmations;
use crate::heartbeat::Heartbeat;
use crate::id::NodeId;
use crate::pace::Pace;

pub use reply::Delivery;
pub use request::Request;
pub use settings::PartySettings;

use leave::OpenReply;

/// A party that is online at a SuperLink. Flower calls it a SuperNode.
///
/// A thread sends heartbeats. If the value is dropped instead of [`Party::leave`], the SuperLink
/// takes the party for online until twice the heartbeat interval has passed.
#[derive(Debug)]
pub struct Party {
    api: Api,
    heartbeat: Heartbeat,
    confirmations: Confirmations,
    settings: PartySettings,
    /// Replies that the coordinator may not have pulled yet.
    open_replies: Vec<OpenReply>,
    /// How often requests are asked for.
    pace: Pace,
}

impl Party {
    /// The number by which the coordinator knows this party.
    pub fn node_id(&self) -> NodeId {
        self.api.node
    }
}
