//! The context of a round, which all of its parts read: the program, the data, the seed and the number of the round.

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
use crate::value::{Env, RuntimeValue};

/// What all parts of a round read, on one device. It is cheap to copy.
#[derive(Clone, Copy)]
pub(crate) struct RoundContext<'a> {
    /// The program, compiled for the device.
    pub program: &'a Program,
    /// The largest number of clients in one graph.
    pub group_size: usize,
    pub dataset: &'a FederatedDataset,
    /// The clients' examples in the device's memory; `None` if batches are gathered in host memory.
    pub device_examples: Option<&'a DeviceExamples>,
    /// Examples that the server and every client have; `None` without any.
    pub public: Option<&'a Examples>,
    /// The seed of every random choice.
    pub seed: u64,
    /// The secret key of the noise of differential privacy; `None` if the noise is drawn from the seed.
    pub secret: Option<&'a NoiseKey>,
    /// The augmentation of the images of training batches.
    pub augment: &'a Augment,
    /// The number of batches that are prefetched, if making a batch is more than copying.
    pub prefetch: usize,
    /// Captured steps; `None` if steps are not captured on the device.
    pub step_cache: Option<&'a StepCache>,
    /// The number of clients as the coordinator counts them, on a party's host; `None` elsewhere.
    pub population: Option<usize>,
    /// The clients that stand for all clients, if personal models are made for a block of clients; `None` elsewhere.
    pub client_subset: Option<&'a [usize]>,
    /// The client that joins late, which is the last one; `None` without one.
    pub late_client: Option<LateClient>,
    /// Clients that take no part in this round, even if they are in a cohort.
    pub absent: &'a BTreeSet<usize>,
    /// The fates of called clients; `None` if clients never fail and take no time.
    pub fates: Option<Fates<'a>>,
    /// The smallest number of clients of a cohort with which the round is carried out if others fail or are late.
    pub min_clients: usize,
    /// The number of the round, from 1.
    pub round: usize,
    /// The number of the round in the schedule of phases, which decides the phase: larger than `round` if phases ended
    /// early.
    pub scheduled: usize,
    /// The number of the phase, from 0.
    pub phase: usize,
}

impl<'a> RoundContext<'a> {
    /// The key of this round's random streams for a purpose.
    pub fn key(&self, purpose: Purpose) -> StreamKey {
        StreamKey::new(self.seed, purpose).with(self.round)
    }

    /// Identifies a client's use of its examples in a local epoch. Random augmentation depends on it.
    pub fn visit(&self, client: usize, epoch: LocalEpoch) -> Visit {
        Visit {
            seed: self.seed,
            round: self.round,
            client,
            epoch,
        }
    }

    /// An operand of an operation that is a count, which is known before the round.
    pub fn count(&self, op: &Op, operand: usize) -> Result<usize, RunError> {
        let count = op.operands.get(operand);
        let count = count.and_then(|v| self.program.index(*v));
        count.ok_or_else(|| missing(op, "count"))
    }

    /// The indices of a client's examples, of which there must be at least one.
    pub fn examples_of(&self, client: usize) -> Result<&'a [usize], RunError> {
        match &self.dataset.client_indices[client][..] {
            [] => Err(RunError::NoExamples { client }),
            examples => Ok(examples),
        }
    }

    /// The number of clients in this round.
    pub fn clients(&self) -> usize {
        let all = self.dataset.client_indices.len();
        let late_client = self.late_client;
        if let Some(population) = self.population {
            return population;
        }
        late_client.map_or(all, |late_client| {
            late_client.clients_in_round(self.scheduled, all)
        })
    }

    /// The late client and its number, once it has joined.
    pub fn joined_late_client(&self) -> Option<(usize, LateClient)> {
        let last = self.dataset.client_indices.len().checked_sub(1)?;
        let late_client = self.late_client.filter(|_| self.clients() > last);
        late_client.map(|late_client| (last, late_client))
    }

    /// Counts the steps of a loop that is not replayed on any device, if steps are captured on this one: a loop of the
    /// server, or one over rows.
    pub fn count_plain_steps(&self, control: &Control, body: &Block, steps: usize) {
        if let Some(step_cache) = self.step_cache
            && let Err(why) = LoopForm::of(self.program, control, body, Runner::Server)
        {
            step_cache.count_plain(&why.to_string(), steps as u64);
        }
    }

    /// The number of the round as algorithms read it, from 0.
    pub fn round_index(&self) -> f64 {
        self.round.saturating_sub(1) as f64
    }
}

/// Reads a value of the environment, or a constant that is known before the round.
pub(crate) fn read_or_constant(
    cx: RoundContext<'_>,
    v: Value,
    env: &mut Env,
    last_uses: &[Value],
) -> Option<RuntimeValue> {
    let constant = || cx.program.real(v).map(RuntimeValue::Number);
    env.read(v, last_uses).or_else(constant)
}

/// A value of the environment, which stays defined, or a constant that is known before the round.
pub(crate) fn value_or_constant(cx: RoundContext<'_>, v: Value, env: &Env) -> Option<RuntimeValue> {
    let constant = || cx.program.real(v).map(RuntimeValue::Number);
    env.peek(v).cloned().or_else(constant)
}

/// The error if an operation has no operand of the expected form, which the verifier should have noticed.
pub(crate) fn missing(op: &Op, expected: &'static str) -> RunError {
    RunError::Value {
        op: op.kind.name(),
        expected,
        loc: op.loc,
    }
}

/// The value of a state's tensors, or zeros if it was never set.
pub(crate) fn state_or_zeros(
    program: &Program,
    op: &Op,
    (name, kind): (&str, Kind),
    state: Option<Vec<DispatchTensor>>,
) -> Result<RuntimeValue, RunError> {
    let zeros = |ty: &TensorType| from_floats(vec![0.0; ty.len()], &ty.shape, program.device());
    Ok(match (kind, state) {
        (Kind::Params, Some(leaves)) => RuntimeValue::Params(leaves),
        (Kind::Params, None) => {
            let leaves = program.model().parameters().iter();
            RuntimeValue::Params(leaves.map(|(_, ty)| zeros(ty)).collect())
        }
        (Kind::Tensor | Kind::Labels, None) => {
            let name = name.to_owned();
            return Err(RunError::Unset { name, loc: op.loc });
        }
        (_, state) => {
            let first = state.and_then(|leaves| leaves.into_iter().next());
            RuntimeValue::Tensor(first.unwrap_or_else(|| zeros(&TensorType::f32([1]))))
        }
    })
}
