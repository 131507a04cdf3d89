//! The heads of requests and replies.

use serde::{Deserialize, Serialize};

/// What a request is about, for logs and for the names of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The hash of the coordinator's program.
    pub graph: String,
    /// The round, from 1, and the index of the region that is to be run in it; `None` if the request only
    /// tells which round was kept, or asks how clients' own models do.
    pub region: Option<(usize, usize)>,
    /// The clients for which it is to be run, or whose models are to be evaluated.
    pub clients: Vec<usize>,
}

/// The name of a tensor of a sum over clients, of which a region has several.
pub(super) fn sum_tensor(sum: usize, name: &str) -> String {
    format!("sum{}/{name}", sum + 1)
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
    pub task: Task,
}

/// What a host is to do.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Task {
    /// To keep the states of the attempt that was kept.
    Settle,
    /// To keep them, and to run a region.
    Run(Run),
    /// To run the region of the program that makes clients' own models, from the states of the attempt that
    /// was kept, and to evaluate the models. Nothing else becomes of it: the coordinator has not saved the
    /// round yet, and may come back without it. With it are [checksums](super::checksum) of the parameters
    /// of the server's model, of which those of the initial model are not sent.
    Evaluate(Run, Vec<u64>),
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
    /// Whether the host sends the region's sums over its clients in place of what is summed.
    pub sums: bool,
}

impl Run {
    /// How many rounds of phases were left out before it; none in a request that is wrong.
    pub fn left_out(&self) -> usize {
        self.scheduled.saturating_sub(self.attempt.round)
    }
}

/// The head of a reply.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Reply {
    /// The region ran, or there was nothing to run.
    Done(Option<Done>),
    /// The clients' own models are evaluated.
    Evaluated(Evaluated),
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

/// How clients' own models do.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Evaluated {
    pub attempt: Attempt,
    /// In the order of the request's.
    pub clients: Vec<ClientScores>,
}

/// How a client's own model does on examples that it does not train on. Accuracies are the bits of 64-bit
/// floats.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ClientScores {
    pub entry: Entry,
    /// Which tensors of the model differ from the server's; `None` if making the model diverged.
    pub own: Option<Vec<bool>>,
    pub test: Option<u64>,
    pub validation: Option<u64>,
}
