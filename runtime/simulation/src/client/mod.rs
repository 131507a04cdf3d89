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

use crate::context::{RoundContext, missing, value_or_constant};
use crate::error::RunError;
use crate::interpreter::{named_streams, run_block};
use crate::state::PerClientStates;
use crate::value::batching::{leaves, stack_group, unstack, unstack_copy};
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
    /// What states that were not set yet were last read as.
    first_values: HashMap<String, RuntimeValue>,
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

impl<'a> ClientGroup<'a> {
    /// A group of clients on the device of `cx`, before a map. `map` is the number of the map within the round, from 0,
    /// and `turns` says how often each client appeared earlier in the map's list of clients.
    pub fn new(
        cx: RoundContext<'a>,
        states: &'a PerClientStates,
        map: usize,
        (ids, turns): (&'a [usize], &'a [usize]),
    ) -> Self {
        Self {
            cx,
            ids,
            states,
            pending_states: HashMap::new(),
            first_values: HashMap::new(),
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
        }
    }

    /// Runs the body of a `fed.map`, and returns an outcome for each client. `args` are the arguments of the body after
    /// the client itself, stacked over the group. Only maps that run on the server read values of the server.
    pub fn run(
        mut self,
        (op, body): (&Op, &Block),
        args: Vec<RuntimeValue>,
        server_values: &[(Value, RuntimeValue)],
    ) -> Result<Vec<ClientOutcome>, RunError> {
        let cx = self.cx;
        let mut env = Env::new(cx.program.schedule().module.types.len());
        for (v, value) in server_values {
            env.set(*v, value.clone());
        }
        // The first argument is the client, which is no value: operations know the group's clients.
        env.set_all(body.args.get(1..).unwrap_or_default(), args);
        run_block(&mut self, cx, body, &mut env)?;
        self.into_outcomes(op, body, &env)
    }
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

    /// Computes a value of each client, and [stacks](stack_group) them.
    fn for_each_client(
        &self,
        op: &Op,
        of: impl Fn(usize) -> Result<RuntimeValue, RunError>,
    ) -> Result<RuntimeValue, RunError> {
        let own = self.ids.iter().map(|&id| of(id));
        let own = own.collect::<Result<_, _>>()?;
        stack_group(own, self.cx.program.device()).ok_or_else(|| missing(op, "tensor"))
    }

    /// The key of each client's next draw from a stream, after `drawn` earlier ones. Counts one more draw for the active
    /// clients.
    fn next_keys(&self, stream: StreamKey, drawn: &mut [u64]) -> Vec<StreamKey> {
        let clients = self.ids.iter().zip(self.turns).zip(drawn).enumerate();
        let keys = clients.map(|(k, ((&client, &turn), drawn))| {
            let (map, before) = (self.map, *drawn);
            *drawn += u64::from(self.is_active(k));
            stream.with_drawer(Drawer::Client { client, map, turn }, before)
        });
        keys.collect()
    }

    /// Whether the `k`-th client takes the present step.
    fn is_active(&self, k: usize) -> bool {
        self.active.as_ref().is_none_or(|active| active[k])
    }

    /// Draws a value for each client from a named stream, and [stacks](stack_group) them.
    fn draw_for_each(
        &mut self,
        op: &Op,
        name: &str,
        draw: impl Fn(StreamKey) -> Result<RuntimeValue, RunError>,
    ) -> Result<RuntimeValue, RunError> {
        let none = || vec![0; self.ids.len()];
        let mut drawn = self.named.remove(name).unwrap_or_else(none);
        let keys = self.next_keys(named_streams::stream_key(self.cx, name), &mut drawn);
        self.named.insert(name.to_owned(), drawn);
        let own = keys.into_iter().map(draw);
        let own = own.collect::<Result<_, _>>()?;
        stack_group(own, self.cx.program.device()).ok_or_else(|| missing(op, "number"))
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
