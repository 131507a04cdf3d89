//! The side of the coordinator (Flower's Runtime API): it takes over a run, sends requests to
//! parties, and collects their replies. In Flower's terms, it stands in for the process of a
//! ServerApp, for which the SuperLink must run with `--isolation process`.

mod batch;
mod receive;
mod send;
mod task;
mod ticket;

use std::collections::VecDeque;

use crate::api::Api;
use crate::confirm::Confirmations;
use crate::control::Node;
use crate::error::FlowerError;
use crate::heartbeat::Heartbeat;
use crate::id::RunId;
use crate::pace::Pace;
use crate::payload::Payload;
use crate::wire::runtime::{GetNodesRequest, GetNodesResponse};

pub use send::Outgoing;
pub use task::{RunOutcome, TaskToken};
pub use ticket::{PartyError, Reply, Ticket};

use batch::Batches;
use receive::Claimed;

/// The process that serves a run. A thread sends heartbeats; if the value is dropped instead of
/// [`Coordinator::finish`], the SuperLink fails the run after one minute, unless another process
/// goes on with the same [`TaskToken`].
#[derive(Debug)]
pub struct Coordinator {
    api: Api,
    token: TaskToken,
    heartbeat: Heartbeat,
    confirmations: Confirmations,
    /// What the SuperLink keeps of requests and replies.
    batches: Batches,
    /// Replies that the SuperLink has handed out, but whose objects were not pulled yet.
    claimed: VecDeque<Claimed>,
    /// Failures that were known when the request was sent.
    failed: VecDeque<Reply>,
    /// Replies that were pulled together with others.
    pulled: VecDeque<Reply>,
    /// How often replies are asked for.
    pace: Pace,
}

impl Coordinator {
    /// The run that this process serves.
    pub fn run(&self) -> RunId {
        self.token.run
    }

    /// The parties that are online, by their numbers.
    ///
    /// # Errors
    ///
    /// [`FlowerError::Lost`] if the SuperLink does not accept this coordinator any more;
    /// [`FlowerError::Call`].
    pub fn nodes(&self) -> Result<Vec<Node>, FlowerError> {
        self.heartbeat.check()?;
        let response: GetNodesResponse = self.api.call("get-nodes", &GetNodesRequest {})?;
        let mut nodes: Vec<_> = response.nodes.into_iter().map(Node::from).collect();
        nodes.sort_by_key(|node| node.id);
        Ok(nodes)
    }
}

impl Reply {
    fn new(ticket: &Ticket, content: Result<Payload, PartyError>) -> Self {
        Self {
            ticket: ticket.clone(),
            content,
        }
    }
}
