//! Interprets the code that a round runs for each client, for one client or a group of K in
//! lockstep.
//!
//! In a group, values that differ between clients have a client axis ([`RtVal::Each`]) and each
//! compute segment runs once for all. Clients with fewer batches than others sit out: their values
//! stay as they were, and their losses are not counted.

mod batches;
mod encode;
mod local_training;
mod loop_body;
mod prefetch;
mod replay_analysis;
mod replay_inputs;
mod replay_loop;
mod walker;

use std::collections::HashMap;
use std::sync::Arc;

use burn::tensor::DispatchTensor;
use burn_backend::TensorMetadata;
use fedround_exec::executor::Slots;
use fedround_exec::tensor::{from_ints, transfer_all};
use fedround_ir::fed::{Op, Value};
use fedround_passes::schedule::Block;
use fedround_random::{Drawer, LocalEpoch, StreamKey};

use crate::context::{RoundContext, kept_or_zeros, missing};
use crate::error::RunError;
use crate::interpreter::{known, named, walk};
use crate::state::ByClient;
use crate::value::batching::{leaves, select, stack, unstack};
use crate::value::{Env, RtVal};

/// What a client gives back.
pub(crate) struct Outcome {
    pub yields: Vec<RtVal>,
    /// The bytes of what it encoded, by the value that was decoded again.
    pub encoded: HashMap<Value, Arc<[u8]>>,
    /// Sums over clients of a host, which is elsewhere, by their reductions' places.
    pub sums: Vec<(usize, Vec<Vec<f64>>)>,
    pub losses: Vec<DispatchTensor>,
    pub steps: u64,
    pub state: HashMap<String, Vec<DispatchTensor>>,
    /// Whether the states that it set elsewhere are finite; those that it gives back are looked at here.
    pub finite: bool,
}

pub(crate) struct Clients<'a> {
    pub cx: RoundContext<'a>,
    pub ids: &'a [usize],
    kept: &'a ByClient,
    /// State set in this round, before it is committed.
    state: HashMap<String, RtVal>,
    /// What was encoded in this map, by the value that was decoded again, of each client.
    encoded: HashMap<Value, Vec<Arc<[u8]>>>,
    losses: Vec<DispatchTensor>,
    pub steps: Vec<u64>,
    turns: &'a [usize],
    /// The number of the map among those of the round.
    map: usize,
    /// How many segments of this map have drawn random numbers, for each client.
    pub random_runs: Vec<u64>,
    /// How often each client has drawn from each named stream in this map.
    pub named: HashMap<String, Vec<u64>>,
    /// Who takes the present step, where not all do.
    pub live: Option<Vec<bool>>,
    /// Whether a step of a loop over batches is under way, which counts itself.
    in_step: bool,
    /// Epochs begun in this map: each has an order of its own.
    pub epoch: LocalEpoch,
    /// How often rows were collected in this map. That has no order, so that no epoch counts it.
    collected: usize,
    slots: Slots,
}

/// Which of the round's `fed.map`s runs, and for whom.
pub(crate) struct Group<'a> {
    /// The number of the map.
    pub map: usize,
    /// The clients.
    pub ids: &'a [usize],
    /// How many of the map's earlier values each of them has had: visits may have many.
    pub turns: &'a [usize],
}

/// Runs the body of a `fed.map` for some clients; gives an outcome for each. The losses of all are
/// with the first. What code on the server reads of the values around it is in `around`.
pub(crate) fn run(
    cx: RoundContext<'_>,
    kept: &ByClient,
    (op, body): (&Op, &Block),
    Group { map, ids, turns }: Group<'_>,
    args: Vec<RtVal>,
    around: &[(Value, RtVal)],
) -> Result<Vec<Outcome>, RunError> {
    let mut env = Env::new(cx.program.schedule().module.types.len());
    for (v, value) in around {
        env.set(*v, value.clone());
    }
    let values = std::iter::once(RtVal::Client).chain(args);
    for (arg, value) in body.args.iter().zip(values) {
        env.set(*arg, value);
    }
    let mut clients = Clients {
        cx,
        ids,
        kept,
        state: HashMap::new(),
        encoded: HashMap::new(),
        losses: vec![],
        steps: vec![0; ids.len()],
        turns,
        map,
        random_runs: vec![0; ids.len()],
        named: HashMap::new(),
        live: None,
        in_step: false,
        epoch: LocalEpoch { map, epoch: 0 },
        collected: 0,
        slots: Slots::default(),
    };
    walk(&mut clients, cx, body, &mut env)?;
    let yields = body.yields.iter().map(|v| known(cx, *v, &env));
    let yields: Option<Vec<RtVal>> = yields.collect();
    let yields = yields.ok_or_else(|| missing(op, "yielded value"))?;
    let mut outcomes = Vec::with_capacity(ids.len());
    for (k, &steps) in clients.steps.iter().enumerate() {
        let own = yields.iter().map(|v| unstack(v, k)).collect();
        let encoded = clients.encoded.iter();
        let encoded = encoded.filter_map(|(v, all)| Some((*v, Arc::clone(all.get(k)?))));
        let encoded = encoded.collect();
        let state = clients.state.iter().map(|(name, value)| {
            let own = leaves(&unstack(value, k)?, cx.program.device())?;
            Some((name.clone(), own))
        });
        let outcome = Option::zip(own, state.collect()).map(|(yields, state)| Outcome {
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
        first.losses = clients.losses;
    }
    Ok(outcomes)
}

impl Clients<'_> {
    pub fn alone(&self) -> bool {
        self.ids.len() == 1
    }

    /// A value of each client.
    fn each(
        &self,
        op: &Op,
        of: impl Fn(usize) -> Result<RtVal, RunError>,
    ) -> Result<RtVal, RunError> {
        if self.alone() {
            return of(self.ids[0]);
        }
        let own = self.ids.iter().map(|&id| of(id));
        let own: Vec<RtVal> = own.collect::<Result<_, _>>()?;
        stack(&own, self.cx.program.device()).ok_or_else(|| missing(op, "tensor"))
    }

    fn kept(&self, op: &Op, name: &str) -> Result<RtVal, RunError> {
        if let Some(value) = self.state.get(name) {
            return Ok(value.clone());
        }
        let kind = self
            .cx
            .program
            .schedule()
            .module
            .type_of(op.results[0])
            .kind;
        self.each(op, |id| {
            kept_or_zeros(self.cx.program, op, (name, kind), self.of(id, name)?)
        })
    }

    /// The key of each client's next draw from a named stream. Counts one more draw for those that take the
    /// step.
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
            keys.push(named::key(self.cx, name, drawer, *drawn));
            *drawn += u64::from(self.live.as_ref().is_none_or(|live| live[k]));
        }
        keys
    }

    /// What each client draws with its key.
    fn drawn(
        &self,
        op: &Op,
        keys: &[StreamKey],
        draw: impl Fn(StreamKey) -> Result<RtVal, RunError>,
    ) -> Result<RtVal, RunError> {
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

    /// What a client has kept, on the device where it trains.
    fn of(&self, id: usize, name: &str) -> Result<Option<Vec<DispatchTensor>>, RunError> {
        let kept = self.kept.get(&(id, name.to_owned()))?;
        let device = self.cx.program.device();
        let kept = kept.map(|leaves| transfer_all(leaves, device));
        Ok(kept.transpose()?)
    }

    /// A personal state; until it is first set, the clients' values of `first`. Those are kept at
    /// once, so that a client that sits out a step which sets it loses nothing.
    fn personal(&mut self, op: &Op, name: &str, first: &RtVal) -> Result<RtVal, RunError> {
        if let Some(value) = self.state.get(name) {
            return Ok(value.clone());
        }
        let program = self.cx.program;
        let kind = program.schedule().module.type_of(op.results[0]).kind;
        let mut own = Vec::with_capacity(self.ids.len());
        for (k, &id) in self.ids.iter().enumerate() {
            let value = match self.of(id, name)? {
                kept @ Some(_) => Some(kept_or_zeros(program, op, (name, kind), kept)?),
                None => unstack(first, k),
            };
            own.push(value.ok_or_else(|| missing(op, "first value"))?);
        }
        let value = if self.alone() {
            own.pop()
        } else {
            stack(&own, self.cx.program.device())
        };
        let value = value.ok_or_else(|| missing(op, "first value"))?;
        self.state.insert(name.to_owned(), value.clone());
        Ok(value)
    }

    /// The number of each client, once for each row of its features.
    fn labels(&self, op: &Op, env: &Env) -> Result<RtVal, RunError> {
        let of = env.peek(op.operands[1]).map(RtVal::unwrapped);
        let Some(RtVal::Tensor(of)) = of else {
            return Err(missing(op, "features"));
        };
        let shape = of.shape();
        let lead = usize::from(matches!(env.peek(op.operands[1]), Some(RtVal::Each(_))));
        let rows = shape.as_slice().get(lead).copied().unwrap_or_default();
        self.each(op, |id| {
            let labels = vec![id as i32; rows];
            let labels = from_ints(labels, &[rows], self.cx.program.device());
            Ok(RtVal::Tensor(labels))
        })
    }

    fn keep(&mut self, op: &Op, name: &str, value: RtVal) -> Result<(), RunError> {
        let value = match &self.live {
            None => value,
            Some(live) => {
                let kind = self
                    .cx
                    .program
                    .schedule()
                    .module
                    .type_of(op.operands[1])
                    .kind;
                let old = match self.state.get(name) {
                    Some(old) => old.clone(),
                    None => self.each(op, |id| {
                        kept_or_zeros(self.cx.program, op, (name, kind), self.of(id, name)?)
                    })?,
                };
                select(live, &value, &old, self.cx.program.device())
                    .ok_or_else(|| missing(op, "tensors to keep"))?
            }
        };
        self.state.insert(name.to_owned(), value);
        Ok(())
    }
}
