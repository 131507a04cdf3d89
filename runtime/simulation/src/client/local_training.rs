//! Local training: loops over a client's batches, single batches, and rows collected from all of a client's examples.

use crate::sampling::client_order;
use burn::tensor::DispatchTensor;
use fedround_data::augment::Scratch;
use fedround_ir::fed::Op;
use fedround_passes::schedule::{Block, Control};

use super::ClientGroup;
use super::batches::{GroupBatch, needs_preparation};
use super::prefetch::{BatchSteps, with_prefetch};
use super::replay_loop::LoopRun;
use crate::context::missing;
use crate::error::RunError;
use crate::interpreter::loops::{initial_values, yielded_values};
use crate::interpreter::rows::concat_rows;
use crate::interpreter::run_block;
use crate::value::batching::select_active_all;
use crate::value::{Env, RuntimeValue};

impl ClientGroup<'_> {
    /// `opt.for_batches`: local epochs of mini-batches.
    pub(crate) fn for_batches(
        &mut self,
        control: &Control,
        body: &Block,
        env: &mut Env,
    ) -> Result<(), RunError> {
        let op = &control.op;
        let (epochs, size) = (self.cx.count(op, 1)?, self.cx.count(op, 2)?.max(1));
        let values = initial_values(self.cx, control, 3, env)?;
        let loop_steps = self.full_batches(epochs, size);
        let active_outside = self.active.take();
        let outer_batch_loop = std::mem::replace(&mut self.in_batch_loop, true);
        // What the body draws itself comes from later local epochs.
        let local_epochs = (self.epoch, epochs);
        self.epoch = self.epoch.later(epochs);
        let steps = BatchSteps::new(
            self.cx,
            self.ids,
            active_outside.clone(),
            local_epochs,
            size,
        )?;
        let values = with_prefetch(steps, self.prefetch_count(), |steps| {
            let (mut values, plain) = match self.cx.step_cache {
                None => (values, None),
                Some(cache) => {
                    match self.capture_loop(cache, (control, body), env, values, loop_steps)? {
                        LoopRun::Replayed(captured) => {
                            return self.replay((op, body), env, steps, captured);
                        }
                        LoopRun::Plain { why, values } => (values, Some((cache, why))),
                    }
                }
            };
            let mut count = 0;
            for batches in steps {
                values = self.step(op, body, env, batches?, values)?;
                count += 1;
            }
            if let Some((cache, why)) = plain {
                cache.count_plain(&why, count);
            }
            Ok(values)
        })?;
        self.active = active_outside;
        self.in_batch_loop = outer_batch_loop;
        env.set_all(&op.results, values);
        Ok(())
    }

    /// How many batches are prefetched: none if making a batch is only copying.
    fn prefetch_count(&self) -> usize {
        match needs_preparation(self.cx) {
            true => self.cx.prefetch,
            false => 0,
        }
    }

    /// Runs a loop's body once for the active clients.
    pub(crate) fn step(
        &mut self,
        op: &Op,
        body: &Block,
        env: &mut Env,
        batches: GroupBatch,
        values: Vec<RuntimeValue>,
    ) -> Result<Vec<RuntimeValue>, RunError> {
        let all_active = self.begin_step(&batches.active);
        // Copied only if a client sits out: with a second handle, values could not be updated in place.
        let old = (!all_active).then(|| values.clone());
        let args = std::iter::once(batches.batch(self.cx)?).chain(values);
        env.set_all(&body.args, args);
        run_block(self, self.cx, body, env)?;
        let new = yielded_values(self.cx, body, op, env)?;
        let active = self.active.take();
        let Some((active, old)) = active.zip(old) else {
            return Ok(new);
        };
        let values = select_active_all(&active, &new, &old, self.cx.program.device());
        values.ok_or_else(|| missing(op, "tensors to carry"))
    }

    /// Counts a local step of the active clients.
    pub(super) fn count_step(&mut self, active: &[bool]) {
        for (steps, &active) in self.steps.iter_mut().zip(active) {
            *steps += u64::from(active);
        }
    }

    /// Begins a step of the active clients. Returns whether all clients are active.
    pub(crate) fn begin_step(&mut self, active: &[bool]) -> bool {
        self.count_step(active);
        let all = active.iter().all(|&active| active);
        self.active = (!all).then(|| active.to_vec());
        all
    }

    /// `opt.batch`: the first examples of a random order, which counts as a local epoch. Maps with this operation run
    /// for one client at a time, because batches of different sizes cannot be stacked.
    pub(crate) fn one_batch(&mut self, op: &Op) -> Result<RuntimeValue, RunError> {
        let size = self.cx.count(op, 1)?.max(1);
        let &[id] = self.ids else {
            return Err(missing(op, "single client"));
        };
        let examples = self.cx.examples_of(id)?;
        let order = client_order(self.cx.seed, self.cx.round, id, examples, self.epoch);
        let chosen = &order[..size.min(order.len())];
        let visit = self.cx.visit(id, self.epoch);
        self.epoch = self.epoch.later(1);
        let n = chosen.len();
        let batch = GroupBatch::new(self.cx, &[(chosen, visit)], n, &mut Scratch::default())?;
        batch.batch(self.cx)
    }

    /// `opt.collect`: evaluates the body on all examples of a client, and concatenates the rows. Maps with this
    /// operation run for one client at a time. Later training is the same as without it: it uses up no local epoch,
    /// and its random augmentation has a stream of its own.
    pub(crate) fn collect(
        &mut self,
        control: &Control,
        body: &Block,
        env: &mut Env,
    ) -> Result<(), RunError> {
        let op = &control.op;
        let size = self.cx.count(op, 1)?.max(1);
        let &[id] = self.ids else {
            return Err(missing(op, "single client"));
        };
        let examples = self.cx.examples_of(id)?;
        let visit = self.cx.visit(id, self.epoch.later(self.collect_count));
        self.collect_count += 1;
        let (cx, mut scratch) = (self.cx, Scratch::default());
        let batches = examples.chunks(size);
        let batches =
            batches.map(|rows| GroupBatch::new(cx, &[(rows, visit)], rows.len(), &mut scratch));
        let columns = with_prefetch(batches, self.prefetch_count(), |batches| {
            let mut columns: Vec<Vec<DispatchTensor>> = vec![vec![]; op.results.len()];
            for batch in batches {
                if let Some(arg) = body.args.first() {
                    env.set(*arg, batch?.batch(cx)?);
                }
                run_block(self, cx, body, env)?;
                for (column, value) in columns.iter_mut().zip(yielded_values(cx, body, op, env)?) {
                    match value {
                        RuntimeValue::Tensor(t) => column.push(t),
                        _ => return Err(missing(op, "features or labels")),
                    }
                }
            }
            Ok(columns)
        })?;
        for (result, column) in op.results.iter().zip(columns) {
            env.set(*result, concat_rows(op, column)?);
        }
        Ok(())
    }
}
