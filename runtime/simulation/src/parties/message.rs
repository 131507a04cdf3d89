//! The heads of requests and replies, as JSON. The names of their fields are part of the protocol.

use serde::{Deserialize, Serialize};

/// The name of a tensor of a sum over clients. `sum` is the index of the sum in its region.
pub(super) fn sum_tensor(sum: usize, name: &str) -> String {
    format!("sum{}/{name}", sum + 1)
}

/// The end of the names of tensors that report losses.
pub(super) const LOSSES: &str = "/losses";

/// An attempt to run a round. A round is repeated if parties fail in it. Attempts of one coordinator process are
/// numbered in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub(crate) struct Attempt {
    /// The session of the coordinator's process; later processes have larger ones.
    pub session: u64,
    /// The number of the attempt in that process.
    pub number: u64,
    /// The round, from 1.
    pub round: usize,
}

/// A committed attempt: its results are those of the round, and the states that it set are kept.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Committed {
    pub attempt: Attempt,
    /// The clients that were lost in the attempt. Their states stay as before.
    pub without: Vec<usize>,
}

/// A client for which a region runs. In visits, the same client has several entries, with turns counted from 0.
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

    /// The name of the tensor of this client's losses.
    pub fn losses(self) -> String {
        self.tensor(&LOSSES[1..])
    }
}

/// The head of a request.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Request {
    /// The hash of the program.
    pub graph: String,
    /// The seed of every random choice.
    pub seed: u64,
    /// The last committed attempt in which this host took part; `None` if there is none.
    pub committed: Option<Committed>,
    pub task: Task,
}

/// What a host is asked to do. In each case it first commits the states of the attempt that the request names, except
/// for `Evaluate`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Task {
    /// Only to commit these states, at the end of a run.
    Settle,
    /// To run a region.
    Run(Run),
    /// To run the region of the program that makes personal models, from the states of the committed attempt, and to
    /// evaluate the models. No state changes, and nothing is committed: the coordinator has not saved the round yet,
    /// and may be restored to the round before. The numbers are [checksums](super::checksum) of the server's
    /// parameters; those that still have their initial values are not sent. What the algorithm computes from them is sent
    /// whole.
    Evaluate(Run, Vec<u64>),
}

/// A region that is to run.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Run {
    pub attempt: Attempt,
    /// The number of the round in the schedule of phases: larger than the round's own if phases ended early.
    pub scheduled: usize,
    /// The number of clients in the round; a late client counts once it has joined.
    pub clients: usize,
    /// The largest number of clients in one graph.
    pub most: usize,
    /// The region's index in its phase.
    pub region: usize,
    /// The number of the map within the round, from 0. Random streams depend on it.
    pub map: usize,
    /// The clients, in the order of the cohort.
    pub entries: Vec<Entry>,
    /// For each input of the region, whether it is sent with the request. The party has the others.
    pub sent: Vec<bool>,
    /// Whether the host sends sums over its clients in place of the values that are summed.
    pub sums: bool,
}

impl Run {
    /// How many rounds were left out before it because phases ended early; 0 in a malformed request.
    pub fn left_out(&self) -> usize {
        self.scheduled.saturating_sub(self.attempt.round)
    }
}

/// The head of a reply.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Reply {
    /// The region ran; `None` if there was no region to run.
    Done(Option<Done>),
    /// The personal models were evaluated.
    Evaluated(Evaluated),
    /// Nothing ran, for this reason.
    Failed(String),
}

/// The results of a region, besides the values that it sends.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Done {
    pub attempt: Attempt,
    pub region: usize,
    pub map: usize,
    /// A report for each client, in the order of the request.
    pub clients: Vec<ClientReport>,
}

/// The results of one client, besides the values that it sends.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ClientReport {
    pub entry: Entry,
    /// The number of local steps.
    pub steps: u64,
    /// Whether the states that the client set, and its values that are summed, are finite.
    pub finite: bool,
}

/// The scores of clients' personal models.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Evaluated {
    pub attempt: Attempt,
    /// The scores of each client, in the order of the request.
    pub clients: Vec<ClientScores>,
}

/// The scores of a client's personal model on examples on which it does not train. Accuracies are the bits of 64-bit
/// floats; `None` without such examples.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ClientScores {
    pub entry: Entry,
    /// For each tensor of the model, whether it differs from the server's; `None` if making the model diverged.
    pub own: Option<Vec<bool>>,
    pub test: Option<u64>,
    pub validation: Option<u64>,
}
