//! Interprets the client code of a round, for one client or for a group of K clients in lockstep.
//!
//! In a group, values that differ between clients have a client axis ([`RuntimeValue::Stacked`]), and each
//! compute segment runs once for all K clients. A client with fewer batches than the others sits out the steps
//! for which it has no batch: its values stay as they were, and its losses are not counted.

mod batches;
mod control_ops;
mod encode;
mod local_training;
mod loop_body;
mod prefetch;
mod replay_analysis;
mod replay_inputs;
mod replay_loop;
mod states;

use std::collections::HashMap;
use std::sync::Arc;

use burn::tensor::DispatchTensor;
use burn_backend::TensorMetadata;
use fedround_exec::device::is_cpu;
use fedround_exec::executor::Slots;
use fedround_exec::tensor::{filled_index, from_ints};
use fedround_ir::fed::{Op, Value};
use fedround_passes::schedule::Block;
use fedround_random::{Drawer, LocalEpoch, StreamKey};

use crate::context::{RoundContext, missing};
use crate::error::RunError;
use crate::interpreter::{named_streams, run_block, value_or_constant};
use crate::state::PerClientStates;
use crate::value::batching::{leaves, stack, unstack, unstack_copy};
use crate::value::{Env, RuntimeValue};

/// The result of a `fed.map` for one client.
pub(crate) struct ClientOutcome {
    /// The yielded values, in the order of the map's results.
    pub yields: Vec<RuntimeValue>,
    /// The encoded bytes of parameters that the client uploads through a codec, by the value of the decoded
    /// parameters. Empty without a codec.
    pub encoded: HashMap<Value, Arc<[u8]>>,
    /// Sums over all clients of a party's host, in place of their values: the index of the reduction, and the
    /// leaves of the sum. Only the first outcome of each host has them.
    pub sums: Vec<(usize, Vec<Vec<f64>>)>,
    /// Losses of local steps, in tensors of any number of elements. In a group, the first client's outcome has
    /// those of all.
    pub losses: Vec<DispatchTensor>,
    /// The number of local steps.
    pub steps: u64,
    /// The client states that the map set, by name. Empty if the client is at a party, which keeps them.
    pub state: HashMap<String, Vec<DispatchTensor>>,
    /// Whether the states that a party keeps for the client are finite. `true` in process, where `state` is
    /// checked instead.
    pub finite: bool,
}

/// Interprets the body of a `fed.map` for a group of clients. Vectors have one entry for each client.
pub(crate) struct ClientGroup<'a> {
    pub cx: RoundContext<'a>,
    /// The clients' numbers.
    pub ids: &'a [usize],
    /// The clients' states before this map.
    states: &'a PerClientStates,
    /// States set in this map, by name, stacked over the group. They are committed when the round ends.
    pending_states: HashMap<String, RuntimeValue>,
    /// Encoded uploads of this map, by the value of the decoded parameters.
    encoded: HashMap<Value, Vec<Arc<[u8]>>>,
    /// Losses of all clients' local steps.
    losses: Vec<DispatchTensor>,
    /// The number of local steps of each client.
    pub steps: Vec<u64>,
    /// How often each client appeared earlier in the map's list of clients; see [`MapJob`](crate::regions::MapJob).
    turns: &'a [usize],
    /// The number of the map within the round, from 0. Random streams depend on it.
    map: usize,
    /// How many segments of this map have drawn random numbers.
    pub draw_counts: Vec<u64>,
    /// How often each client has drawn from each named stream in this map.
    pub named: HashMap<String, Vec<u64>>,
    /// Which clients take the present step; `None` if all do.
    pub active: Option<Vec<bool>>,
    /// Whether a loop over batches runs. It counts its steps itself.
    in_batch_loop: bool,
    /// The next local epoch of this map. Each epoch visits the examples in an order of its own.
    pub epoch: LocalEpoch,
    /// How often rows were collected in this map. Collecting needs no order, so it does not count as an epoch.
    collect_count: usize,
    /// Buffers of compute plans, reused from one step to the next.
    slots: Slots,
}

/// A group of clients and the `fed.map` that runs for them on one device.
pub(crate) struct GroupJob<'a> {
    /// The context of the group's device.
    pub cx: RoundContext<'a>,
    /// The clients' states before the map.
    pub states: &'a PerClientStates,
    pub op: &'a Op,
    pub body: &'a Block,
    /// The number of the map within the round, from 0.
    pub map: usize,
    /// The clients' numbers.
    pub ids: &'a [usize],
    /// How often each client appeared earlier in the map's list of clients.
    pub turns: &'a [usize],
    /// The arguments of the body after the client itself, stacked over the group.
    pub args: Vec<RuntimeValue>,
    /// Values of the server that the body reads. Only maps that run on the server read any.
    pub server_values: &'a [(Value, RuntimeValue)],
}

/// Runs the body of a `fed.map` for a group of clients, and returns an outcome for each.
pub(crate) fn run(job: GroupJob<'_>) -> Result<Vec<ClientOutcome>, RunError> {
    let GroupJob {
        cx,
        states,
        op,
        body,
        map,
        ids,
        turns,
        args,
        server_values,
    } = job;
    let mut env = Env::new(cx.program.schedule().module.types.len());
    for (v, value) in server_values {
        env.set(*v, value.clone());
    }
    let values = std::iter::once(RuntimeValue::Client).chain(args);
    env.set_all(&body.args, values);
    let mut clients = ClientGroup {
        cx,
        ids,
        states,
        pending_states: HashMap::new(),
        encoded: HashMap::new(),
        losses: vec![],
        steps: vec![0; ids.len()],
        turns,
        map,
        draw_counts: vec![0; ids.len()],
        named: HashMap::new(),
        active: None,
        in_batch_loop: false,
        epoch: LocalEpoch { map, epoch: 0 },
        collect_count: 0,
        slots: Slots::default(),
    };
    run_block(&mut clients, cx, body, &mut env)?;
    clients.into_outcomes(op, body, &env)
}

impl ClientGroup<'_> {
    /// The outcome of each client, after the body of a map has run.
    fn into_outcomes(
        self,
        op: &Op,
        body: &Block,
        env: &Env,
    ) -> Result<Vec<ClientOutcome>, RunError> {
        let cx = self.cx;
        let yields = body.yields.iter().map(|v| value_or_constant(cx, *v, env));
        let yields: Option<Vec<RuntimeValue>> = yields.collect();
        let yields = yields.ok_or_else(|| missing(op, "yielded value"))?;
        let device = cx.program.device();
        // States outlive the round, and would keep those of the whole group in memory.
        let copy_states = !self.is_single() && !is_cpu(device);
        let mut outcomes = Vec::with_capacity(self.ids.len());
        for (k, &steps) in self.steps.iter().enumerate() {
            let own = yields.iter().map(|v| unstack(v, k)).collect();
            let encoded = self.encoded.iter();
            let encoded = encoded.filter_map(|(v, all)| Some((*v, Arc::clone(all.get(k)?))));
            let encoded = encoded.collect();
            let index = copy_states.then(|| filled_index(k, device));
            let state = self.pending_states.iter().map(|(name, value)| {
                let own = match &index {
                    Some(index) => unstack_copy(value, k, index)?,
                    // Host memory is copied when the round is committed.
                    None => unstack(value, k)?,
                };
                Some((name.clone(), leaves(&own, device)?))
            });
            let outcome = Option::zip(own, state.collect()).map(|(yields, state)| ClientOutcome {
                yields,
                encoded,
                sums: vec![],
                losses: vec![],
                steps,
                state,
                finite: true,
            });
            outcomes.push(outcome.ok_or_else(|| missing(op, "value of each client"))?);
        }
        if let Some(first) = outcomes.first_mut() {
            first.losses = self.losses;
        }
        Ok(outcomes)
    }

    /// Whether the group is one client, whose values have no client axis.
    pub fn is_single(&self) -> bool {
        self.ids.len() == 1
    }

    /// Computes a value of each client, and stacks them.
    fn for_each_client(
        &self,
        op: &Op,
        of: impl Fn(usize) -> Result<RuntimeValue, RunError>,
    ) -> Result<RuntimeValue, RunError> {
        if self.is_single() {
            return of(self.ids[0]);
        }
        let own = self.ids.iter().map(|&id| of(id));
        let own: Vec<RuntimeValue> = own.collect::<Result<_, _>>()?;
        stack(&own, self.cx.program.device()).ok_or_else(|| missing(op, "tensor"))
    }

    /// The key of each client's next draw from a named stream. Counts one more draw for the active clients.
    fn named_keys(&mut self, name: &str) -> Vec<StreamKey> {
        let none = || vec![0; self.ids.len()];
        let draws = self.named.entry(name.to_owned()).or_insert_with(none);
        let mut keys = Vec::with_capacity(draws.len());
        for (k, drawn) in draws.iter_mut().enumerate() {
            let drawer = Drawer::Client {
                client: self.ids[k],
                map: self.map,
                turn: self.turns[k],
            };
            keys.push(named_streams::draw_key(self.cx, name, drawer, *drawn));
            *drawn += u64::from(self.active.as_ref().is_none_or(|active| active[k]));
        }
        keys
    }

    /// Draws a value for each client with its key, and stacks them.
    fn draw_for_each(
        &self,
        op: &Op,
        keys: &[StreamKey],
        draw: impl Fn(StreamKey) -> Result<RuntimeValue, RunError>,
    ) -> Result<RuntimeValue, RunError> {
        let mut own = keys
            .iter()
            .map(|key| draw(*key))
            .collect::<Result<Vec<_>, _>>()?;
        let value = match own.len() {
            1 => own.pop(),
            _ => stack(&own, self.cx.program.device()),
        };
        value.ok_or_else(|| missing(op, "number"))
    }

    /// Labels that name the client: each client's number, once for each row of its features.
    fn client_labels(&self, op: &Op, env: &Env) -> Result<RuntimeValue, RunError> {
        let features = env.peek(op.operands[1]).map(RuntimeValue::inner);
        let Some(RuntimeValue::Tensor(features)) = features else {
            return Err(missing(op, "features"));
        };
        let shape = features.shape();
        let row_axis = usize::from(matches!(
            env.peek(op.operands[1]),
            Some(RuntimeValue::Stacked(_))
        ));
        let rows = shape.as_slice().get(row_axis).copied().unwrap_or_default();
        self.for_each_client(op, |id| {
            let labels = vec![id as i32; rows];
            let labels = from_ints(labels, &[rows], self.cx.program.device());
            Ok(RuntimeValue::Tensor(labels))
        })
    }
}
