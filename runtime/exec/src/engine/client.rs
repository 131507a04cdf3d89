//! One client's part of a round.

use std::collections::HashMap;

use burn::tensor::DispatchTensor;
use fedround_data::schedule::client_order;
use fedround_ir::fed::{OpKind, Value};
use fedround_passes::tensor::{Block, Control};

use super::walk::{Walker, carried, known, next, repeat, walk};
use super::{Cx, State, missing, params, zeros};
use crate::error::RunError;
use crate::ops;
use crate::run::Slots;
use crate::value::{Env, RtVal};

/// What a client gives back.
pub(super) struct Outcome {
    pub yields: Vec<RtVal>,
    pub losses: Vec<DispatchTensor>,
    pub steps: u64,
    pub state: HashMap<String, Vec<DispatchTensor>>,
}

struct Client<'a> {
    cx: Cx<'a>,
    id: usize,
    kept: &'a State,
    /// State set in this round, before it is committed.
    state: HashMap<String, Vec<DispatchTensor>>,
    losses: Vec<DispatchTensor>,
    steps: u64,
    /// Epochs begun in this round: each has an order of its own.
    epoch: usize,
    slots: Slots,
}

/// Runs the body of the round's `visit`-th `fed.map` for one client.
pub(super) fn run(
    cx: Cx<'_>,
    kept: &State,
    body: &Block,
    (id, visit): (usize, usize),
    args: Vec<RtVal>,
) -> Result<Outcome, RunError> {
    let mut env = Env::new(cx.program.schedule.module.types.len());
    let values = std::iter::once(RtVal::Client).chain(args);
    for (arg, value) in body.args.iter().zip(values) {
        env.set(*arg, value);
    }
    let mut client = Client {
        cx,
        id,
        kept,
        state: HashMap::new(),
        losses: vec![],
        steps: 0,
        epoch: visit << 32,
        slots: Slots::default(),
    };
    walk(&mut client, cx, body, &mut env)?;
    let yields = body.yields.iter().filter_map(|v| known(cx, *v, &env));
    Ok(Outcome {
        yields: yields.collect(),
        losses: client.losses,
        steps: client.steps,
        state: client.state,
    })
}

impl Client<'_> {
    /// `opt.for_batches`: every epoch visits the client's examples in its own order; the last
    /// batch of an epoch may be short.
    fn for_batches(
        &mut self,
        control: &Control,
        body: &Block,
        env: &mut Env,
    ) -> Result<(), RunError> {
        let op = &control.op;
        let program = self.cx.program;
        let count = |i: usize| {
            program
                .index(op.operands[i])
                .ok_or_else(|| missing(op, "count"))
        };
        let (epochs, size) = (count(1)?, count(2)?.max(1));
        let mut values = carried(self.cx, control, 3, env)?;
        let federation = self.cx.federation;
        let mine = &federation.parts[self.id];
        if mine.is_empty() {
            return Err(RunError::NoExamples { client: self.id });
        }
        for _ in 0..epochs {
            let order = client_order(federation.seed, self.cx.round, self.id, mine, self.epoch);
            self.epoch += 1;
            for indices in order.chunks(size) {
                let batch = self.batch(indices);
                let args = std::iter::once(batch).chain(values);
                for (arg, value) in body.args.iter().zip(args) {
                    env.set(*arg, value);
                }
                walk(self, self.cx, body, env)?;
                values = next(self.cx, body, op, env)?;
                self.steps += 1;
            }
        }
        for (result, value) in op.results.iter().zip(values) {
            env.set(*result, value);
        }
        Ok(())
    }

    fn batch(&self, indices: &[usize]) -> RtVal {
        let examples = &self.cx.federation.examples;
        let mut x = Vec::with_capacity(indices.len() * examples.features());
        let mut y = Vec::with_capacity(indices.len());
        examples.gather(indices, &mut x, &mut y);
        let [c, h, w] = examples.shape();
        let device = &self.cx.program.device;
        let x = ops::tensor(x, &[indices.len(), c, h, w], device);
        RtVal::Batch(x, ops::ints(y, device))
    }
}

impl Walker for Client<'_> {
    fn control(
        &mut self,
        control: &Control,
        env: &mut Env,
        last: &[Value],
    ) -> Result<(), RunError> {
        let op = &control.op;
        let result = match (&op.kind, &control.body) {
            (OpKind::ForBatches, Some(body)) => return self.for_batches(control, body, env),
            (OpKind::Repeat, Some(body)) => return repeat(self, self.cx, control, body, env),
            (OpKind::NumExamples, _) => RtVal::Host(self.cx.federation.parts[self.id].len() as f64),
            (OpKind::ClientState(name), _) => {
                let key = (self.id, name.clone());
                let kept = self.state.get(name).or_else(|| self.kept.clients.get(&key));
                RtVal::Params(kept.cloned().unwrap_or_else(|| zeros(self.cx.program)))
            }
            (OpKind::SetClientState(name), _) => {
                let value = params(env.read(op.operands[1], last), op)?;
                self.state.insert(name.clone(), value);
                return Ok(());
            }
            _ => return Err(missing(op, "form in client code")),
        };
        env.set(op.results[0], result);
        Ok(())
    }

    fn losses(&mut self, losses: &[DispatchTensor]) {
        self.losses.extend_from_slice(losses);
    }

    fn slots(&mut self) -> &mut Slots {
        &mut self.slots
    }
}
