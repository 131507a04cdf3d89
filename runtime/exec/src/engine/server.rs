//! The server's part of a round: sample, broadcast, map, reduce.

use std::sync::Arc;

use burn::tensor::DispatchTensor;
use burn_backend::ops::FloatTensorOps;
use burn_dispatch::Dispatch;
use fedround_data::schedule::cohort;
use fedround_ir::fed::{Op, OpKind, Reduce, Value};
use fedround_passes::tensor::{Block, Control, Frontend};

use super::walk::{Walker, repeat, walk};
use super::{Cx, RoundStats, State, client, missing, params, zeros};
use crate::error::RunError;
use crate::ops;
use crate::reduce::weighted_sum;
use crate::run::Slots;
use crate::value::{Env, RtVal};
use crate::workers::Workers;

pub(super) struct Server<'a> {
    pub cx: Cx<'a>,
    pub workers: &'a Workers,
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
        let mut ids: Option<Arc<[usize]>> = None;
        let mut columns: Vec<Vec<RtVal>> = vec![];
        for v in &op.operands {
            let Some(RtVal::Clients(cohort, values)) = env.peek(*v) else {
                return Err(missing(op, "value of each client"));
            };
            ids = Some(Arc::clone(cohort));
            columns.push(values.clone());
        }
        let ids = ids.ok_or_else(|| missing(op, "cohort"))?;
        let (cx, kept, visit) = (self.cx, &*self.state, self.visits);
        self.visits += 1;
        let outcomes = self.workers.run(ids.len(), |i| {
            let args = columns.iter().map(|column| column[i].clone()).collect();
            client::run(cx, kept, body, (ids[i], visit), args)
        });
        let mut results = vec![Vec::with_capacity(ids.len()); op.results.len()];
        for (&id, outcome) in ids.iter().zip(outcomes) {
            let outcome = outcome?;
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
            Some(RtVal::Clients(_, values)) => Ok(values),
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
        let Some(RtVal::Clients(_, values)) = value else {
            return 0;
        };
        let bytes = |x: &RtVal| match x {
            RtVal::Params(_) => 4 * self.cx.program.parameter_count(),
            _ => 4,
        };
        values.iter().map(bytes).sum::<usize>() as u64
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
        let result = RtVal::Clients(Arc::clone(&ids), vec![value; ids.len()]);
        self.stats.bytes_down += self.wire_bytes(Some(&result));
        Ok(result)
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
                let kept = self.state.server.get(name).cloned();
                RtVal::Params(kept.unwrap_or_else(|| zeros(self.cx.program)))
            }
            (OpKind::SetServerState(name), _) => {
                let value = params(env.read(op.operands[0], last), op)?;
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

    fn slots(&mut self) -> &mut Slots {
        &mut self.slots
    }
}
