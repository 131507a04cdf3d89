//! Drives a program's round: walks the schedule, runs clients on workers, reduces in a fixed order.

mod batches;
mod body;
mod client;
mod crossings;
mod epochs;
mod groups;
mod inputs;
mod look;
mod map;
mod replayable;
mod replayed;
mod rows;
mod running;
mod server;
mod stack;
mod state;
mod steps;
mod walk;

use burn::tensor::DispatchTensor;
use fedround_data::Examples;
use fedround_data::augment::{Augment, Visit};
use fedround_ir::fed::{Kind, Op, Value};
use fedround_ir::tensor::TensorType;
use fedround_passes::lowering::Frontend;
use fedround_random::{LocalEpoch, Purpose, StreamKey};

use crate::error::RunError;
use crate::newcomer::LateClient;
use crate::ops;
use crate::program::Program;
use crate::replay::Replays;
use crate::value::{Env, RtVal};
use crate::workers::Workers;
pub(crate) use state::{ByClient, State};

pub(crate) use look::Look;
pub use look::{ObservedTensor, ServerObservation};

/// Examples, and which of them each client has.
#[derive(Clone, Debug)]
pub struct FederatedDataset {
    /// Examples of all clients.
    pub examples: Examples,
    /// For each client, the indices of its examples.
    pub client_indices: Vec<Vec<usize>>,
}

/// Counts and losses of one round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoundStats {
    /// Mean of the local steps' losses, in the loss's unit; NaN if no gradient was taken.
    pub train_loss: f64,
    /// Local steps, over all clients.
    pub client_steps: u64,
    /// Bytes from clients to the server.
    pub bytes_up: u64,
    /// Bytes from the server to clients.
    pub bytes_down: u64,
}

/// Runs one round from `params`; gives the next parameters. The server's work is done at `cx`,
/// clients train there and on the devices `beside` it. What the server sees of single clients is
/// shown to `look`.
///
/// # Errors
///
/// See [`RunError`].
pub(crate) fn run_round<'a>(
    cx: Cx<'a>,
    beside: &[Cx<'a>],
    workers: &'a Workers,
    state: &'a mut State,
    params: Vec<DispatchTensor>,
    look: Option<Look<'a>>,
) -> Result<(Vec<DispatchTensor>, RoundStats), RunError> {
    let mut server = server::Server {
        cx,
        devices: std::iter::once(&cx).chain(beside).copied().collect(),
        workers,
        state,
        look,
        gathered: vec![],
        slots: Default::default(),
        losses: vec![],
        own_losses: vec![],
        stats: RoundStats::default(),
        draws: 0,
        maps: 0,
        visiting: vec![],
        random_runs: 0,
    };
    let params = server.round(params)?;
    Ok((params, server.finish()?))
}

/// What every part of a round may read, on one device.
#[derive(Clone, Copy)]
pub(crate) struct Cx<'a> {
    /// For the device.
    pub program: &'a Program,
    /// Up to so many clients run in one graph.
    pub group: usize,
    pub dataset: &'a FederatedDataset,
    /// Seed of every random choice.
    pub seed: u64,
    /// What becomes of the images of training batches.
    pub augment: &'a Augment,
    /// Batches that may wait for their steps, where making them takes work.
    pub prefetch: usize,
    /// The steps that are recorded, where any are.
    pub replays: Option<&'a Replays>,
    /// The client that joins late, where one does.
    pub newcomer: Option<LateClient>,
    /// The round, from 1.
    pub round: usize,
    /// The same where no phase had ended early: whose turn it is.
    pub scheduled: usize,
}

impl Cx<'_> {
    /// The streams of this round that serve a purpose.
    fn key(&self, purpose: Purpose) -> StreamKey {
        StreamKey::new(self.seed, purpose).with(self.round)
    }

    /// A client's view of its examples in an epoch.
    fn visit(&self, client: usize, epoch: LocalEpoch) -> Visit {
        Visit {
            seed: self.seed,
            round: self.round,
            client,
            epoch,
        }
    }

    /// How many clients there are in this round.
    fn clients(&self) -> usize {
        let all = self.dataset.client_indices.len();
        let newcomer = self.newcomer;
        newcomer.map_or(all, |newcomer| newcomer.there(self.scheduled, all))
    }

    /// The newcomer's number, once it is there.
    fn joined(&self) -> Option<(usize, LateClient)> {
        let last = self.dataset.client_indices.len().checked_sub(1)?;
        let newcomer = self.newcomer.filter(|_| self.clients() > last);
        newcomer.map(|newcomer| (last, newcomer))
    }

    /// Counts steps that run op by op, where others are replayed.
    fn plain(&self, why: &str, steps: usize) {
        if let Some(replays) = self.replays {
            replays.plain(why, steps as u64);
        }
    }

    /// `t` of specs, which counts from 0.
    fn round_index(&self) -> f64 {
        self.round.saturating_sub(1) as f64
    }
}

/// What a state is set to: a value of the round, or one known before it.
fn written(cx: Cx<'_>, v: Value, env: &mut Env, last: &[Value]) -> Option<RtVal> {
    let constant = || cx.program.real(v).map(RtVal::Host);
    env.read(v, last).or_else(constant)
}

fn missing(op: &Op, expected: &'static str) -> RunError {
    RunError::Value {
        op: op.kind.name(),
        expected,
        loc: op.loc,
    }
}

/// A state's value, zeros before it is first set.
fn kept_or_zeros(
    program: &Program,
    op: &Op,
    (name, kind): (&str, Kind),
    kept: Option<Vec<DispatchTensor>>,
) -> Result<RtVal, RunError> {
    let zeros = |ty: &TensorType| ops::tensor(vec![0.0; ty.len()], &ty.shape, &program.device);
    Ok(match (kind, kept) {
        (Kind::Params, Some(leaves)) => RtVal::Params(leaves),
        (Kind::Params, None) => {
            let leaves = program.tracer.parameters().iter();
            RtVal::Params(leaves.map(|(_, ty)| zeros(ty)).collect())
        }
        (Kind::Tensor | Kind::Labels, None) => {
            let name = name.to_owned();
            return Err(RunError::Unset { name, loc: op.loc });
        }
        (_, kept) => {
            let first = kept.and_then(|leaves| leaves.into_iter().next());
            RtVal::Tensor(first.unwrap_or_else(|| zeros(&TensorType::f32([1]))))
        }
    })
}
