//! What clients do with their examples: loops over batches, single batches, and what is collected of
//! all.

use burn::tensor::DispatchTensor;
use fedround_data::schedule::client_order;
use fedround_ir::fed::Op;
use fedround_passes::tensor::{Block, Control};

use super::batches::{Batches, Chosen, gather};
use super::client::Clients;
use super::missing;
use super::rows::join;
use super::stack::select;
use super::walk::{carried, next, walk};
use crate::error::RunError;
use crate::value::{Env, RtVal};

impl Clients<'_> {
    /// `opt.for_batches`.
    pub(super) fn for_batches(
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
        let mut batches = vec![];
        for &id in self.ids {
            let mine = &self.cx.federation.parts[id];
            if mine.is_empty() {
                return Err(RunError::NoExamples { client: id });
            }
            batches.push(Batches::new(mine, size));
        }
        let outer = self.live.take();
        let steps = batches.iter().map(|b| epochs * b.per_epoch()).max();
        for step in 0..steps.unwrap_or_default() {
            let mut chosen: Vec<Chosen<'_>> = Vec::with_capacity(self.ids.len());
            for (k, (own, &id)) in batches.iter_mut().zip(self.ids).enumerate() {
                let sits_out = outer.as_ref().is_some_and(|live| !live[k]);
                if sits_out || step >= epochs * own.per_epoch() {
                    chosen.push((&[], self.cx.visit(id, 0)));
                } else {
                    chosen.push(own.get(self.cx, id, self.epoch, step));
                }
            }
            let mut sizes: Vec<usize> = chosen
                .iter()
                .map(|(rows, _)| rows.len())
                .filter(|&n| n > 0)
                .collect();
            sizes.sort_unstable();
            sizes.dedup();
            // Clients with batches of one size take the step together.
            for &n in sizes.iter().rev() {
                let live: Vec<bool> = chosen.iter().map(|(rows, _)| rows.len() == n).collect();
                let batch = self.batch(&chosen, n)?;
                values = self.step(op, body, env, batch, values, live)?;
            }
        }
        self.epoch += epochs;
        self.live = outer;
        for (result, value) in op.results.iter().zip(values) {
            env.set(*result, value);
        }
        Ok(())
    }

    /// Runs a loop's body once for the live clients.
    fn step(
        &mut self,
        op: &Op,
        body: &Block,
        env: &mut Env,
        batch: RtVal,
        values: Vec<RtVal>,
        live: Vec<bool>,
    ) -> Result<Vec<RtVal>, RunError> {
        for (steps, &live) in self.steps.iter_mut().zip(&live) {
            *steps += u64::from(live);
        }
        let all = live.iter().all(|&l| l);
        self.live = (!all).then_some(live);
        // Kept only where needed: a second handle keeps an update from happening in place.
        let old = (!all).then(|| values.clone());
        let args = std::iter::once(batch).chain(values);
        for (arg, value) in body.args.iter().zip(args) {
            env.set(*arg, value);
        }
        walk(self, self.cx, body, env)?;
        let new = next(self.cx, body, op, env)?;
        let live = self.live.take();
        let Some((live, old)) = live.zip(old) else {
            return Ok(new);
        };
        let device = &self.cx.program.device;
        let kept = new
            .iter()
            .zip(&old)
            .map(|(n, o)| select(&live, n, o, device));
        let kept: Option<Vec<RtVal>> = kept.collect();
        kept.ok_or_else(|| missing(op, "tensors to carry"))
    }

    /// The clients' next batches, each of `n` examples; zeros for a client that sits out.
    fn batch(&mut self, chosen: &[Chosen<'_>], n: usize) -> Result<RtVal, RunError> {
        let (cx, scratch) = (self.cx, &mut self.scratch);
        let columns = cx.program.schedule.columns.iter();
        let columns = columns.map(|column| gather(cx, column, chosen, n, scratch));
        let batch = RtVal::Batch(n, columns.collect::<Result<_, _>>()?);
        Ok(if self.alone() {
            batch
        } else {
            RtVal::each(batch)
        })
    }

    /// `opt.batch`: the first examples of an order of its own. Maps with it take one client at a
    /// time, as batches of several sizes do not stack.
    pub(super) fn one_batch(&mut self, op: &Op) -> Result<RtVal, RunError> {
        let size = self.cx.program.index(op.operands[1]);
        let size = size.ok_or_else(|| missing(op, "count"))?.max(1);
        let &[id] = self.ids else {
            return Err(missing(op, "single client"));
        };
        let (federation, round) = (self.cx.federation, self.cx.round);
        let mine = &federation.parts[id];
        if mine.is_empty() {
            return Err(RunError::NoExamples { client: id });
        }
        let order = client_order(federation.seed, round, id, mine, self.epoch);
        let chosen = &order[..size.min(order.len())];
        let visit = self.cx.visit(id, self.epoch);
        self.epoch += 1;
        self.batch(&[(chosen, visit)], chosen.len())
    }

    /// `opt.collect`. Maps with it take one client at a time, too.
    pub(super) fn collect(
        &mut self,
        control: &Control,
        body: &Block,
        env: &mut Env,
    ) -> Result<(), RunError> {
        let op = &control.op;
        let size = self.cx.program.index(op.operands[1]);
        let size = size.ok_or_else(|| missing(op, "count"))?.max(1);
        let &[id] = self.ids else {
            return Err(missing(op, "single client"));
        };
        let mine = &self.cx.federation.parts[id];
        if mine.is_empty() {
            return Err(RunError::NoExamples { client: id });
        }
        let visit = self.cx.visit(id, self.epoch);
        self.epoch += 1;
        let mut columns: Vec<Vec<DispatchTensor>> = vec![vec![]; op.results.len()];
        for chosen in mine.chunks(size) {
            let batch = self.batch(&[(chosen, visit)], chosen.len())?;
            if let Some(arg) = body.args.first() {
                env.set(*arg, batch);
            }
            walk(self, self.cx, body, env)?;
            for (column, value) in columns.iter_mut().zip(next(self.cx, body, op, env)?) {
                match value {
                    RtVal::Tensor(t) => column.push(t),
                    _ => return Err(missing(op, "features or labels")),
                }
            }
        }
        for (result, column) in op.results.iter().zip(columns) {
            env.set(*result, join(op, column)?);
        }
        Ok(())
    }
}
