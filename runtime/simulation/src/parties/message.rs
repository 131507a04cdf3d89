//! The heads of requests and replies.

use serde::{Deserialize, Serialize};

/// What a request is about, for logs and for the names of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The hash of the coordinator's program.
    pub graph: String,
    /// The round, from 1, and the index of the region that is to be run in it; `None` if the request only
    /// tells which round was kept.
    pub region: Option<(usize, usize)>,
    /// The clients for which it is to be run.
    pub clients: Vec<usize>,
}

/// Ends the names of tensors that report losses.
pub(super) const LOSSES: &str = "/losses";

/// One of the times that a round is tried. Attempts of one coordinator process are numbered in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub(crate) struct Attempt {
    /// The coordinator's process.
    pub session: u64,
    /// Of that process.
    pub number: u64,
    /// The round, from 1.
    pub round: usize,
}

/// An attempt that ended with a round's results: the states that it set are kept.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Committed {
    pub attempt: Attempt,
    /// Clients that were lost in it, whose states stay as before.
    pub without: Vec<usize>,
}

/// A client for which a region runs. In visits a client has several turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
pub(crate) struct Entry {
    pub client: usize,
    pub turn: usize,
}

impl Entry {
    /// The name of a tensor of this client.
    pub fn tensor(self, name: &str) -> String {
        match self.turn {
            0 => format!("client{}/{name}", self.client),
            turn => format!("client{}.{turn}/{name}", self.client),
        }
    }
}

/// The head of a request.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Request {
    /// The hash of the program.
    pub graph: String,
    /// The seed of every random choice.
    pub seed: u64,
    /// The last attempt of a round in which this host took part and that was kept.
    pub committed: Option<Committed>,
    /// What is to be run; nothing if the request only tells what was kept.
    pub run: Option<Run>,
}

/// A region that is to be run.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Run {
    pub attempt: Attempt,
    /// The round where no phase had ended early.
    pub scheduled: usize,
    /// How many clients there are.
    pub clients: usize,
    /// Up to so many clients run in one graph.
    pub most: usize,
    /// The region's index in its phase.
    pub region: usize,
    /// The number of the map in the round, by which random streams differ.
    pub map: usize,
    /// The clients, in the order of the cohort.
    pub entries: Vec<Entry>,
    /// Which of the region's inputs are sent with the request; the party has the others.
    pub sent: Vec<bool>,
}

/// The head of a reply.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Reply {
    /// The region ran, or there was nothing to run.
    Done(Option<Done>),
    /// Nothing ran.
    Failed(String),
}

/// What a region gave.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Done {
    pub attempt: Attempt,
    pub region: usize,
    pub map: usize,
    /// In the order of the request's.
    pub clients: Vec<ClientReport>,
}

/// What is told of one client besides its values.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ClientReport {
    pub entry: Entry,
    /// Local steps.
    pub steps: u64,
    /// Whether the states that it set are finite.
    pub finite: bool,
}
