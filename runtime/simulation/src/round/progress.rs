//! What a round has done so far: its random draws, its uploads, and the numbers that the host reads when it ends.

use std::collections::{BTreeMap, HashMap, HashSet};

use burn::tensor::DispatchTensor;
use fedround_ir::fed::Value;

/// Counts of the round in progress. Random streams are keyed by them, so that each draw has a stream of its own;
/// `dispatches` identifies dispatched values.
#[derive(Default)]
pub(super) struct RoundCounters {
    /// Cohorts drawn.
    pub cohorts: usize,
    /// Maps over clients, and over gathered values.
    pub maps: usize,
    /// Exchanges of values between clients (`fed.mix`).
    pub mixes: usize,
    /// Values dispatched to clients in flight (`fed.dispatch`).
    pub dispatches: usize,
    /// Compute segments of the server that draw random numbers.
    pub random_segments: u64,
    /// Draws of the server from each named stream.
    pub named: HashMap<String, u64>,
}

/// What clients have uploaded in the round in progress.
#[derive(Default)]
pub(super) struct Uploads {
    /// Values whose bytes are counted. A value is sent once, however many operations read it.
    pub counted: HashSet<Value>,
    /// Results of `gather`, which were shown to the observer already.
    pub observed: Vec<Value>,
    /// Values that visit other clients than their own.
    pub visiting: Vec<Value>,
    /// Whether the round has to be repeated if a client is lost from now on: the server has used what clients sent,
    /// counted their steps, read the size of a cohort, or runs clients in turn.
    pub used: bool,
}

/// Numbers on devices that the host reads when the round ends.
#[derive(Default)]
pub(super) struct Readback {
    /// Losses of the clients' local steps, in tensors of any number of elements.
    pub losses: Vec<DispatchTensor>,
    /// Losses of gradients that the server takes itself. They are no local steps, so they do not count in the
    /// training loss.
    pub server_losses: Vec<DispatchTensor>,
    /// Scalars among the server's states that the round has set, by the state's name.
    pub numbers: BTreeMap<String, DispatchTensor>,
}
