//! Local training: loops over a client's batches, single batches, and rows collected from all of
//! its examples.

use crate::sampling::client_order;
use burn::tensor::DispatchTensor;
use fedround_data::augment::Scratch;
use fedround_ir::fed::Op;
use fedround_passes::schedule::{Block, Control};

use super::Clients;
use super::batches::{Gathered, takes_work};
use super::prefetch::{Steps, ahead};
use super::replay_loop::LoopRun;
use crate::context::missing;
use crate::error::RunError;
use crate::interpreter::loops::{carried, next};
use crate::interpreter::rows::join;
use crate::interpreter::walk;
use crate::value::batching::select_all;
use crate::value::{Env, RtVal};

impl Clients<'_> {
    /// `opt.for_batches`.
    pub(crate) fn for_batches(
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
        let of = self.full_batches(epochs, size);
        let outer = self.live.take();
        let outer_step = std::mem::replace(&mut self.in_step, true);
        let of_epochs = (self.epoch, epochs);
        let steps = Steps::new(self.cx, self.ids, outer.clone(), of_epochs, size)?;
        let values = ahead(steps, self.ahead(), |steps| {
            if let Some(replays) = self.cx.replays {
                return match self.recorded(replays, (control, body), env, &values, of)? {
                    LoopRun::Replayed(recorded) => self.replay((op, body), env, steps, recorded),
                    LoopRun::Plain(why) => {
                        self.plainly((op, body), env, steps, values, (replays, &why))
                    }
                };
            }
            for batches in steps {
                values = self.step(op, body, env, batches?, values)?;
            }
            Ok(values)
        })?;
        self.epoch = self.epoch.later(epochs);
        self.live = outer;
        self.in_step = outer_step;
        for (result, value) in op.results.iter().zip(values) {
            env.set(*result, value);
        }
        Ok(())
    }

    /// How many batches are made ahead of the steps: none where that is but copying.
    fn ahead(&self) -> usize {
        match takes_work(self.cx) {
            true => self.cx.prefetch,
            false => 0,
        }
    }

    /// Runs a loop's body once for the live clients.
    pub(crate) fn step(
        &mut self,
        op: &Op,
        body: &Block,
        env: &mut Env,
        batches: Gathered,
        values: Vec<RtVal>,
    ) -> Result<Vec<RtVal>, RunError> {
        let all = self.take_part(&batches.live);
        // Kept only where needed: a second handle keeps an update from happening in place.
        let old = (!all).then(|| values.clone());
        let args = std::iter::once(batches.batch(self.cx)?).chain(values);
        for (arg, value) in body.args.iter().zip(args) {
            env.set(*arg, value);
        }
        walk(self, self.cx, body, env)?;
        let new = next(self.cx, body, op, env)?;
        let live = self.live.take();
        let Some((live, old)) = live.zip(old) else {
            return Ok(new);
        };
        let kept = select_all(&live, &new, &old, self.cx.program.device());
        kept.ok_or_else(|| missing(op, "tensors to carry"))
    }

    /// Counts a step of those that are live.
    pub(super) fn count_step(&mut self, live: &[bool]) {
        for (steps, &live) in self.steps.iter_mut().zip(live) {
            *steps += u64::from(live);
        }
    }

    /// Begins a step of those that are live; whether all are.
    pub(crate) fn take_part(&mut self, live: &[bool]) -> bool {
        self.count_step(live);
        let all = live.iter().all(|&live| live);
        self.live = (!all).then(|| live.to_vec());
        all
    }

    /// `opt.batch`: the first examples of an order of its own. Maps with it take one client at a
    /// time, as batches of several sizes do not stack.
    pub(crate) fn one_batch(&mut self, op: &Op) -> Result<RtVal, RunError> {
        let size = self.cx.program.index(op.operands[1]);
        let size = size.ok_or_else(|| missing(op, "count"))?.max(1);
        let &[id] = self.ids else {
            return Err(missing(op, "single client"));
        };
        let (dataset, round) = (self.cx.dataset, self.cx.round);
        let mine = &dataset.client_indices[id];
        if mine.is_empty() {
            return Err(RunError::NoExamples { client: id });
        }
        let order = client_order(self.cx.seed, round, id, mine, self.epoch);
        let chosen = &order[..size.min(order.len())];
        let visit = self.cx.visit(id, self.epoch);
        self.epoch = self.epoch.later(1);
        let n = chosen.len();
        let batch = Gathered::new(self.cx, &[(chosen, visit)], n, &mut Scratch::default())?;
        batch.batch(self.cx)
    }

    /// `opt.collect`. Maps with it take one client at a time, too. Training after it is as without it; only
    /// what augmentation draws for the rows is its own.
    pub(crate) fn collect(
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
        let mine = &self.cx.dataset.client_indices[id];
        if mine.is_empty() {
            return Err(RunError::NoExamples { client: id });
        }
        let visit = self.cx.visit(id, self.epoch.later(self.collected));
        self.collected += 1;
        let (cx, mut scratch) = (self.cx, Scratch::default());
        let batches = mine.chunks(size);
        let batches =
            batches.map(|rows| Gathered::new(cx, &[(rows, visit)], rows.len(), &mut scratch));
        let columns = ahead(batches, self.ahead(), |batches| {
            let mut columns: Vec<Vec<DispatchTensor>> = vec![vec![]; op.results.len()];
            for batch in batches {
                if let Some(arg) = body.args.first() {
                    env.set(*arg, batch?.batch(cx)?);
                }
                walk(self, cx, body, env)?;
                for (column, value) in columns.iter_mut().zip(next(cx, body, op, env)?) {
                    match value {
                        RtVal::Tensor(t) => column.push(t),
                        _ => return Err(missing(op, "features or labels")),
                    }
                }
            }
            Ok(columns)
        })?;
        for (result, column) in op.results.iter().zip(columns) {
            env.set(*result, join(op, column)?);
        }
        Ok(())
    }
}
