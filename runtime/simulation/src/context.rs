//! The context of a round, which all of its parts may read: the program, the data, the seed and the round's
//! number.

use std::collections::BTreeSet;

use burn::tensor::DispatchTensor;
use fedround_data::Examples;
use fedround_data::augment::{Augment, Visit};
use fedround_exec::Program;
use fedround_exec::capture::StepCache;
use fedround_exec::tensor::from_floats;
use fedround_ir::fed::{Kind, Op, Value};
use fedround_ir::tensor::TensorType;
use fedround_passes::lowering::Frontend;
use fedround_passes::schedule::{Block, Control};
use fedround_random::{LocalEpoch, NoiseKey, Purpose, StreamKey};

use crate::dataset::FederatedDataset;
use crate::device_examples::DeviceExamples;
use crate::error::RunError;
use crate::faults::Fates;
use crate::late_client::LateClient;
use crate::loop_form::{LoopForm, Runner};
use crate::value::{Env, RtVal};

/// What every part of a round may read, on one device.
#[derive(Clone, Copy)]
pub(crate) struct RoundContext<'a> {
    /// For the device.
    pub program: &'a Program,
    /// Up to so many clients run in one graph.
    pub group: usize,
    pub dataset: &'a FederatedDataset,
    /// The examples on the device, where batches are gathered there.
    pub resident: Option<&'a DeviceExamples>,
    /// Examples that the server and every client have, where there are any.
    pub public: Option<&'a Examples>,
    /// Seed of every random choice.
    pub seed: u64,
    /// Secret of the noise of differential privacy; without one, its seed is that of all else.
    pub secret: Option<&'a NoiseKey>,
    /// What becomes of the images of training batches.
    pub augment: &'a Augment,
    /// Batches that may wait for their steps, where making them takes work.
    pub prefetch: usize,
    /// The steps that are recorded, where any are.
    pub replays: Option<&'a StepCache>,
    /// How many clients there are, where somebody else counts them.
    pub population: Option<usize>,
    /// The clients that everyone is, where a round is of some clients alone.
    pub everyone: Option<&'a [usize]>,
    /// The client that joins late, where one does.
    pub newcomer: Option<LateClient>,
    /// Clients that take no part in this round, whoever draws them.
    pub absent: &'a BTreeSet<usize>,
    /// What becomes of clients that are called, where some may fail.
    pub fates: Option<Fates<'a>>,
    /// The fewest clients of a cohort, if some of it are absent.
    pub least: usize,
    /// The round, from 1.
    pub round: usize,
    /// The same where no phase had ended early: whose turn it is.
    pub scheduled: usize,
}

impl RoundContext<'_> {
    /// The streams of this round that serve a purpose.
    pub fn key(&self, purpose: Purpose) -> StreamKey {
        StreamKey::new(self.seed, purpose).with(self.round)
    }

    /// A client's view of its examples in an epoch.
    pub fn visit(&self, client: usize, epoch: LocalEpoch) -> Visit {
        Visit {
            seed: self.seed,
            round: self.round,
            client,
            epoch,
        }
    }

    /// How many clients there are in this round.
    pub fn clients(&self) -> usize {
        let all = self.dataset.client_indices.len();
        let newcomer = self.newcomer;
        if let Some(population) = self.population {
            return population;
        }
        newcomer.map_or(all, |newcomer| newcomer.there(self.scheduled, all))
    }

    /// The newcomer's number, once it is there.
    pub fn joined(&self) -> Option<(usize, LateClient)> {
        let last = self.dataset.client_indices.len().checked_sub(1)?;
        let newcomer = self.newcomer.filter(|_| self.clients() > last);
        newcomer.map(|newcomer| (last, newcomer))
    }

    /// Counts the steps of a loop that runs op by op, where others are replayed.
    pub fn plain(&self, (control, body): (&Control, &Block), runner: Runner, steps: usize) {
        if let Some(replays) = self.replays
            && let Err(why) = LoopForm::of(self.program, control, body, runner)
        {
            replays.count_plain(&why.to_string(), steps as u64);
        }
    }

    /// `t` of specs, which counts from 0.
    pub fn round_index(&self) -> f64 {
        self.round.saturating_sub(1) as f64
    }
}

/// What a state is set to: a value of the round, or one known before it.
pub(crate) fn written(
    cx: RoundContext<'_>,
    v: Value,
    env: &mut Env,
    last: &[Value],
) -> Option<RtVal> {
    let constant = || cx.program.real(v).map(RtVal::Host);
    env.read(v, last).or_else(constant)
}

pub(crate) fn missing(op: &Op, expected: &'static str) -> RunError {
    RunError::Value {
        op: op.kind.name(),
        expected,
        loc: op.loc,
    }
}

/// A state's value, zeros before it is first set.
pub(crate) fn kept_or_zeros(
    program: &Program,
    op: &Op,
    (name, kind): (&str, Kind),
    kept: Option<Vec<DispatchTensor>>,
) -> Result<RtVal, RunError> {
    let zeros = |ty: &TensorType| from_floats(vec![0.0; ty.len()], &ty.shape, program.device());
    Ok(match (kind, kept) {
        (Kind::Params, Some(leaves)) => RtVal::Params(leaves),
        (Kind::Params, None) => {
            let leaves = program.model().parameters().iter();
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
