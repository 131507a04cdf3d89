//! The server's part of a round: sample, broadcast, map, reduce.

use std::borrow::Cow;
use std::sync::Arc;

use burn::tensor::DispatchTensor;
use burn_backend::ops::FloatTensorOps;
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_data::schedule::cohort;
use fedround_ir::fed::{Op, OpKind, Reduce, Value};
use fedround_passes::tensor::{Block, Control, Frontend};

use super::stack::{leaves, stack};
use super::walk::{Walker, repeat, walk};
use super::{Cx, RoundStats, State, client, kept_or_zeros, missing};
use crate::error::RunError;
use crate::ops;
use crate::reduce::weighted_sum;
use crate::run::Slots;
use crate::value::{Env, RtVal};
use crate::workers::Workers;

pub(super) struct Server<'a> {
    pub cx: Cx<'a>,
    pub workers: &'a Workers,
    /// How many clients run in one graph.
    pub group: usize,
    pub state: &'a mut State,
    pub slots: Slots,
    pub losses: Vec<DispatchTensor>,
    pub stats: RoundStats,
    /// Cohorts drawn in this round, and maps run: each draw and each visit has its own stream.
    pub draws: usize,
    pub visits: usize,
}

impl Server<'_> {
    /// Runs the round's block.
    pub fn round(&mut self, w: Vec<DispatchTensor>) -> Result<Vec<DispatchTensor>, RunError> {
        let schedule = &self.cx.program.schedule;
        let mut env = Env::new(schedule.module.types.len());
        let block = &schedule.round;
        if let Some(arg) = block.args.first() {
            env.set(*arg, RtVal::Params(w));
        }
        walk(self, self.cx, block, &mut env)?;
        match block.yields.first().and_then(|v| env.peek(*v)) {
            Some(RtVal::Params(leaves)) => Ok(leaves.clone()),
            _ => Err(RunError::Compile(crate::error::CompileError::NoRound)),
        }
    }

    /// Reads the losses back, once for the whole round.
    pub fn finish(mut self) -> Result<RoundStats, RunError> {
        let losses = std::mem::take(&mut self.losses);
        if losses.is_empty() {
            self.stats.train_loss = f64::NAN;
            return Ok(self.stats);
        }
        let values = ops::values(Dispatch::float_cat(losses, 0));
        let loss = values.iter().copied().map(f64::from).sum::<f64>() / values.len() as f64;
        if !loss.is_finite() {
            let round = self.cx.round;
            return Err(RunError::Diverged { round, loss });
        }
        self.stats.train_loss = loss;
        Ok(self.stats)
    }

    fn map(&mut self, control: &Control, body: &Block, env: &mut Env) -> Result<(), RunError> {
        let op = &control.op;
        let (cx, kept, visit) = (self.cx, &*self.state, self.visits);
        let mut cohort: Option<&Arc<[usize]>> = None;
        let mut operands = Vec::with_capacity(op.operands.len());
        for v in &op.operands {
            let value = env.peek(*v);
            match value {
                Some(value @ (RtVal::Clients(ids, _) | RtVal::Broadcast(ids, _))) => {
                    cohort = Some(ids);
                    operands.push(value);
                }
                _ => return Err(missing(op, "value of each client")),
            }
        }
        let ids = Arc::clone(cohort.ok_or_else(|| missing(op, "cohort"))?);
        self.visits += 1;
        let groups = groups(&ids, &cx.federation.parts, self.group);
        let outcomes = self.workers.run(groups.len(), |g| {
            let members = &groups[g];
            let own: Vec<usize> = members.iter().map(|&i| ids[i]).collect();
            let args = operands
                .iter()
                .map(|v| argument(v, members, &cx.program.device));
            let args: Option<Vec<RtVal>> = args.collect();
            let args = args.ok_or_else(|| missing(op, "tensor of each client"))?;
            client::run(cx, kept, body, &own, visit, args)
        });
        let mut by_client: Vec<Option<client::Outcome>> = Vec::new();
        by_client.resize_with(ids.len(), || None);
        for (members, outcomes) in groups.iter().zip(outcomes) {
            for (&i, outcome) in members.iter().zip(outcomes?) {
                by_client[i] = Some(outcome);
            }
        }
        let mut results = vec![Vec::with_capacity(ids.len()); op.results.len()];
        for (&id, outcome) in ids.iter().zip(by_client.into_iter().flatten()) {
            self.losses.extend(outcome.losses);
            self.stats.client_steps += outcome.steps;
            for (name, value) in outcome.state {
                self.state.clients.insert((id, name), value);
            }
            for (column, value) in results.iter_mut().zip(outcome.yields) {
                column.push(value);
            }
        }
        for (result, column) in op.results.iter().zip(results) {
            env.set(*result, RtVal::Clients(Arc::clone(&ids), column));
        }
        Ok(())
    }

    fn reduce(&mut self, kind: Reduce, op: &Op, env: &Env) -> Result<RtVal, RunError> {
        let clients = |i: usize| match op.operands.get(i).and_then(|v| env.peek(*v)) {
            Some(RtVal::Clients(_, values)) => Ok(Cow::Borrowed(values)),
            Some(RtVal::Broadcast(ids, value)) => {
                Ok(Cow::Owned(vec![value.as_ref().clone(); ids.len()]))
            }
            _ => Err(missing(op, "value of each client")),
        };
        let values = clients(0)?;
        let m = values.len() as f64;
        let empty = |why| RunError::Empty { why, loc: op.loc };
        if values.is_empty() {
            return Err(empty("the cohort is empty"));
        }
        let weights: Vec<f64> = match kind {
            Reduce::Sum => vec![1.0; values.len()],
            Reduce::Mean => vec![1.0 / m; values.len()],
            Reduce::WeightedMean => {
                let weights: Vec<f64> = clients(1)?.iter().map(number).collect();
                let total: f64 = weights.iter().sum();
                if total == 0.0 {
                    return Err(empty("the weights sum to zero"));
                }
                weights.iter().map(|w| w / total).collect()
            }
        };
        for v in &op.operands {
            self.stats.bytes_up += self.wire_bytes(env.peek(*v));
        }
        if !matches!(values[0], RtVal::Params(_)) {
            let sum = values
                .iter()
                .zip(&weights)
                .map(|(x, w)| w * number(x))
                .sum();
            return Ok(RtVal::Host(sum));
        }
        let program = self.cx.program;
        let leaves = program.tracer.parameters().iter().enumerate();
        let sums = leaves.map(|(i, (_, ty))| {
            let column = values.iter().filter_map(|x| match x {
                RtVal::Params(leaves) => leaves.get(i),
                _ => None,
            });
            let column: Vec<&DispatchTensor> = column.collect();
            weighted_sum(&column, &weights, &ty.shape, &program.device)
        });
        Ok(RtVal::Params(sums.collect()))
    }

    /// Bytes of a value of each client, as `f32`.
    fn wire_bytes(&self, value: Option<&RtVal>) -> u64 {
        let bytes = |x: &RtVal| match x {
            RtVal::Params(_) => 4 * self.cx.program.parameter_count(),
            _ => 4,
        };
        let total = match value {
            Some(RtVal::Clients(_, values)) => values.iter().map(bytes).sum(),
            Some(RtVal::Broadcast(ids, value)) => ids.len() * bytes(value),
            _ => 0,
        };
        total as u64
    }

    fn sample(&mut self, op: &Op) -> Result<RtVal, RunError> {
        let federation = self.cx.federation;
        let clients = federation.parts.len();
        let c = self.cx.program.real(op.operands[0]);
        let c = c.ok_or_else(|| missing(op, "fraction known before the round"))?;
        let m = ((c * clients as f64).round() as usize).clamp(1, clients.max(1));
        let draw = self.draws;
        self.draws += 1;
        let ids = cohort(federation.seed, self.cx.round, draw, clients, m);
        Ok(RtVal::Cohort(ids.into()))
    }

    fn broadcast(&mut self, op: &Op, env: &mut Env, last: &[Value]) -> Result<RtVal, RunError> {
        let Some(RtVal::Cohort(ids)) = env.peek(op.operands[1]).cloned() else {
            return Err(missing(op, "cohort"));
        };
        let value = env.read(op.operands[0], last);
        let value = value.ok_or_else(|| missing(op, "value on the server"))?;
        let result = RtVal::Broadcast(ids, Box::new(value));
        self.stats.bytes_down += self.wire_bytes(Some(&result));
        Ok(result)
    }
}

/// Positions in the cohort of the clients of each group: of like sizes, so that few sit out.
fn groups(ids: &[usize], parts: &[Vec<usize>], size: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..ids.len()).collect();
    if size > 1 {
        order.sort_by_key(|&i| std::cmp::Reverse(parts[ids[i]].len()));
    }
    order.chunks(size.max(1)).map(<[usize]>::to_vec).collect()
}

/// What the clients of a group are given.
fn argument(value: &RtVal, members: &[usize], device: &DispatchDevice) -> Option<RtVal> {
    match (value, members) {
        (RtVal::Broadcast(_, value), _) => Some(value.as_ref().clone()),
        (RtVal::Clients(_, values), &[i]) => Some(values[i].clone()),
        (RtVal::Clients(_, values), _) => {
            let own: Vec<RtVal> = members.iter().map(|&i| values[i].clone()).collect();
            stack(&own, device)
        }
        _ => None,
    }
}

/// A scalar in host memory.
fn number(value: &RtVal) -> f64 {
    match value {
        RtVal::Host(c) => *c,
        RtVal::Tensor(t) => ops::values(t.clone())
            .first()
            .copied()
            .map_or(f64::NAN, f64::from),
        _ => f64::NAN,
    }
}

impl Walker for Server<'_> {
    fn control(
        &mut self,
        control: &Control,
        env: &mut Env,
        last: &[Value],
    ) -> Result<(), RunError> {
        let op = &control.op;
        let result = match (&op.kind, &control.body) {
            (OpKind::Repeat, Some(body)) => return repeat(self, self.cx, control, body, env),
            (OpKind::Map, Some(body)) => {
                self.map(control, body, env)?;
                for v in last {
                    env.read(*v, last);
                }
                return Ok(());
            }
            (OpKind::Sample, _) => self.sample(op)?,
            (OpKind::Everyone, _) => RtVal::Cohort((0..self.cx.federation.parts.len()).collect()),
            (OpKind::Broadcast, _) => self.broadcast(op, env, last)?,
            (OpKind::Reduce(kind), _) => self.reduce(*kind, op, env)?,
            (OpKind::ServerState(name), _) => {
                let kind = self.cx.program.schedule.module.type_of(op.results[0]).kind;
                let kept = self.state.server.get(name).cloned();
                kept_or_zeros(self.cx.program, kind, kept)
            }
            (OpKind::SetServerState(name), _) => {
                let value = env.read(op.operands[0], last);
                let value = value.and_then(|v| leaves(&v, &self.cx.program.device));
                let value = value.ok_or_else(|| missing(op, "value to keep"))?;
                self.state.server.insert(name.clone(), value);
                return Ok(());
            }
            _ => return Err(missing(op, "form in server code")),
        };
        env.set(op.results[0], result);
        Ok(())
    }

    fn losses(&mut self, losses: &[DispatchTensor]) {
        self.losses.extend_from_slice(losses);
    }

    fn clients(&self) -> usize {
        1
    }

    fn slots(&mut self) -> &mut Slots {
        &mut self.slots
    }
}
