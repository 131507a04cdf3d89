//! Runs loops by replaying captured steps.
//!
//! Steps with full batches are replayed for all clients of the group; for clients that sit out a step, its effect is
//! undone. Other batches, such as the short last one of an epoch, run operation by operation on the same state.

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use fedround_ir::fed::Op;
use fedround_passes::schedule::{Block, Control};

use super::ClientGroup;
use super::batches::{GroupBatch, example_columns};
use super::loop_body::LoopSteps;
use super::replay_analysis::{Analysis, Replayable};
use crate::context::missing;
use crate::error::RunError;
use crate::interpreter::loops::{initial_values, repeat, repeat_from};
use crate::interpreter::{Interpreter, random_keys};
use crate::value::batching::select_active_all;
use crate::value::{Env, RuntimeValue};
use fedround_exec::ExecError;
use fedround_exec::capture::{CapturedStep, Lookup, LoopStart, StepCache, StepInputs};

/// A loop and its captured step, whose buffers hold the loop-carried values.
pub(crate) struct CapturedLoop<'a, 'b> {
    plan: Box<Replayable<'a, 'b>>,
    step: Box<CapturedStep>,
}

/// How the steps of a loop run.
pub(crate) enum LoopRun<'a, 'b> {
    /// By replaying a captured step.
    Replayed(CapturedLoop<'a, 'b>),
    /// Operation by operation.
    Plain {
        /// The reason.
        why: String,
        /// The values that the loop begins with.
        values: Vec<RuntimeValue>,
    },
}

impl CapturedLoop<'_, '_> {
    /// Copies of the loop-carried values of a group of clients.
    fn values(&self, device: &DispatchDevice) -> Option<Vec<RuntimeValue>> {
        Some(self.plan.values(self.step.copy_state(device)?, false))
    }
}

impl ClientGroup<'_> {
    /// Prepares the captured step of a loop that begins with `values`, or returns why there is none.
    ///
    /// A loop whose step is not captured yet begins with the same tensors as a captured one: with a client axis, also
    /// where all clients of a group begin with the same value. Otherwise its first step would be compiled for other
    /// shapes and round differently, and a resumed run, which has captured nothing yet, would differ from one that was
    /// never stopped.
    pub(crate) fn capture_loop<'r, 'b>(
        &mut self,
        step_cache: &'r StepCache,
        (control, body): (&Control, &'b Block),
        env: &mut Env,
        values: Vec<RuntimeValue>,
        loop_steps: LoopSteps,
    ) -> Result<LoopRun<'r, 'b>, RunError> {
        let plan = match self.replayable(step_cache, (control, body), env, &values, loop_steps)? {
            Analysis::Replayable(plan) => plan,
            Analysis::Plain(why) => {
                let why = why.to_string();
                return Ok(LoopRun::Plain { why, values });
            }
        };
        let state = self.flat_leaves(&control.op, &values)?;
        let start = LoopStart {
            state: state.clone(),
            outer: plan.outer.clone(),
            examples: match loop_steps.size {
                Some(n) => example_columns(self.cx, n, self.ids.len())?,
                None => vec![],
            },
            rows: loop_steps.size.unwrap_or_default() * self.ids.len(),
            // One capture can contain several steps only if nothing runs between them.
            steps_per_capture: if plan.per_step_reads.is_empty() {
                loop_steps.steps_per_capture
            } else {
                1
            },
        };
        let device = self.cx.program.device();
        let found =
            step_cache.take(&plan.segment, &plan.layout, start, loop_steps.steps, device)?;
        Ok(match found {
            Lookup::Captured(step) => LoopRun::Replayed(CapturedLoop { plan, step }),
            Lookup::Missing(why) => {
                let values = plan.values(state, self.is_single());
                LoopRun::Plain { why, values }
            }
        })
    }

    /// Runs a loop over batches by replaying its captured step.
    pub(crate) fn replay(
        &mut self,
        (op, body): (&Op, &Block),
        env: &mut Env,
        steps: &mut dyn Iterator<Item = Result<GroupBatch, RunError>>,
        mut captured: CapturedLoop<'_, '_>,
    ) -> Result<Vec<RuntimeValue>, RunError> {
        let device = self.cx.program.device();
        let lost = || missing(op, "buffer");
        // Batches that wait until one capture of several steps is full.
        let mut ready = vec![];
        for batches in steps {
            let batches = batches?;
            let full = captured.plan.loop_steps.size == Some(batches.n);
            if full
                && let Some(steps) = captured.step.steps_per_capture()
                && batches.active.iter().all(|&active| active)
            {
                ready.push(batches);
                if ready.len() == steps {
                    self.replay_block(op, &mut ready, &mut captured)?;
                }
                continue;
            }
            for earlier in ready.drain(..) {
                self.replay_batches((op, body), env, earlier, &mut captured)?;
            }
            if full {
                self.replay_batches((op, body), env, batches, &mut captured)?;
                continue;
            }
            let CapturedLoop { plan, step } = &mut captured;
            let values = plan.values(step.copy_state(device).ok_or_else(lost)?, self.is_single());
            let values = self.step(op, body, env, batches, values)?;
            step.set_state(self.flat_leaves(op, &values)?)
                .ok_or_else(lost)?;
            step.stats.count_plain("a batch is not full", 1);
        }
        for last in ready {
            self.replay_batches((op, body), env, last, &mut captured)?;
        }
        self.end_loop(op, captured)
    }

    /// Replays several steps of all clients in one launch. Their batches are gathered on the device.
    fn replay_block(
        &mut self,
        op: &Op,
        ready: &mut Vec<GroupBatch>,
        CapturedLoop { plan, step }: &mut CapturedLoop<'_, '_>,
    ) -> Result<(), RunError> {
        let first = ready.first().and_then(|batches| batches.rows(ready.len()));
        let rows = first.ok_or_else(|| missing(op, "batch"))?;
        for batches in ready.drain(..) {
            self.begin_step(&batches.active);
        }
        let losses = step.run_block(rows, self.cx.program.device())?;
        if plan.step_cache.required
            && let Some(why) = &step.stats.refused
        {
            return Err(ExecError::NotReplayed(why.clone()).into());
        }
        let grouped = !self.is_single();
        self.losses(losses.as_slice(), grouped);
        Ok(())
    }

    /// Replays one step. The state of clients that sit it out is restored afterwards.
    fn replay_batches(
        &mut self,
        (op, body): (&Op, &Block),
        env: &mut Env,
        batches: GroupBatch,
        captured: &mut CapturedLoop<'_, '_>,
    ) -> Result<(), RunError> {
        let lost = || missing(op, "buffer");
        let device = self.cx.program.device();
        let old = match self.begin_step(&batches.active) {
            true => None,
            false => Some(captured.values(device).ok_or_else(lost)?),
        };
        let rows = batches.rows(1);
        if rows.is_none() {
            env.set(body.args[0], batches.batch(self.cx)?);
        }
        self.replay_step(op, env, rows, captured)?;
        if let Some((active, old)) = self.active.take().zip(old) {
            let new = captured.values(device).ok_or_else(lost)?;
            let values = select_active_all(&active, &new, &old, device).ok_or_else(lost)?;
            let leaves = self.flat_leaves(op, &values)?;
            captured.step.set_state(leaves).ok_or_else(lost)?;
        }
        Ok(())
    }

    /// `opt.repeat`: by replaying a captured step if there is one.
    pub(crate) fn repeat(
        &mut self,
        control: &Control,
        body: &Block,
        env: &mut Env,
    ) -> Result<(), RunError> {
        let (op, cx) = (&control.op, self.cx);
        let (Some(step_cache), Some(times)) = (cx.step_cache, cx.program.index(op.operands[0]))
        else {
            return repeat(self, cx, control, body, env);
        };
        let values = initial_values(cx, control, 1, env)?;
        let loop_steps = LoopSteps {
            size: None,
            steps: times as u64,
            steps_per_capture: 1,
            all_active: self.active.is_none(),
        };
        let captured = self.capture_loop(step_cache, (control, body), env, values, loop_steps)?;
        let mut captured = match captured {
            LoopRun::Replayed(captured) => captured,
            LoopRun::Plain { why, values } => {
                step_cache.count_plain(&why, times as u64);
                return repeat_from(self, cx, (control, body), env, values);
            }
        };
        for _ in 0..times {
            self.replay_step(op, env, None, &mut captured)?;
        }
        let values = self.end_loop(op, captured)?;
        env.set_all(&op.results, values);
        Ok(())
    }

    /// Ends a loop: returns its values, and gives the captured step back to the cache.
    fn end_loop(
        &self,
        op: &Op,
        CapturedLoop { plan, step }: CapturedLoop<'_, '_>,
    ) -> Result<Vec<RuntimeValue>, RunError> {
        let state = step.copy_state(self.cx.program.device());
        let state = state.ok_or_else(|| missing(op, "buffer"))?;
        let values = plan.values(state, self.is_single());
        plan.step_cache.give_back(*step);
        Ok(values)
    }

    /// Replays one step: on the batch in the environment, or on the batch of these row indices, or on none.
    fn replay_step(
        &mut self,
        op: &Op,
        env: &mut Env,
        rows: Option<DispatchTensor>,
        CapturedLoop { plan, step }: &mut CapturedLoop<'_, '_>,
    ) -> Result<(), RunError> {
        let (cx, grouped) = (self.cx, !self.is_single());
        for control in &plan.per_step_reads {
            self.run_control(control, env, &[])?;
        }
        let columns = plan
            .columns(env, self.cx.program.device())
            .ok_or_else(|| missing(op, "batch"))?;
        let supplies = &plan.segment.supplies;
        let keys = random_keys(self, plan.index, supplies);
        let draws = supplies.draws(&keys, cx.secret, cx.program.device());
        let inputs = StepInputs {
            rows,
            columns,
            draws: draws.collect(),
        };
        let losses = step.run(inputs, cx.program.device())?;
        match &step.refused {
            Some(why) if plan.step_cache.required => {
                return Err(ExecError::NotReplayed(why.clone()).into());
            }
            _ => self.losses(&losses, grouped),
        }
        Ok(())
    }
}
