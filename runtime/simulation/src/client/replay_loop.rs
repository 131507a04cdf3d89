//! Runs loops by replaying a captured step.
//!
//! Full batches are replayed for all clients of the group; the effect on clients that sit a step
//! out is undone. Other batches, such as the short last one of an epoch, run op by op from the
//! same state.

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use fedround_ir::fed::Op;
use fedround_passes::schedule::{Block, Control};

use super::Clients;
use super::batches::{Gathered, example_columns};
use super::loop_body::Loop;
use super::replay_analysis::{Analysis, Replayable};
use crate::context::missing;
use crate::error::RunError;
use crate::interpreter::loops::{carried, repeat};
use crate::interpreter::{Walker, random_keys};
use crate::value::batching::{leaves, select_all, stack};
use crate::value::{Env, RtVal};
use fedround_exec::ExecError;
use fedround_exec::capture::{CapturedStep, Lookup, LoopStart, StepCache, StepInputs};

/// A loop and its recorded step, with the loop's values in place.
pub(crate) struct Recorded<'a, 'b> {
    plan: Box<Replayable<'a, 'b>>,
    step: Box<CapturedStep>,
}

/// How the steps of a loop run.
pub(crate) enum LoopRun<'a, 'b> {
    /// By the replay of a captured step.
    Replayed(Recorded<'a, 'b>),
    /// Op by op, for this reason.
    Plain(String),
}

impl Recorded<'_, '_> {
    /// Copies of the values of a group of clients.
    fn values(&self, device: &DispatchDevice) -> Option<Vec<RtVal>> {
        Some(self.plan.values(self.step.copy_state(device)?, false))
    }
}

impl Clients<'_> {
    /// The recorded step of a loop, or why there is none.
    pub(crate) fn recorded<'r, 'b>(
        &mut self,
        replays: &'r StepCache,
        (control, body): (&Control, &'b Block),
        env: &mut Env,
        values: &[RtVal],
        of: Loop,
    ) -> Result<LoopRun<'r, 'b>, RunError> {
        let plan = match self.replayable(replays, (control, body), env, values, of)? {
            Analysis::Replayable(plan) => plan,
            Analysis::Plain(why) => return Ok(LoopRun::Plain(why.to_string())),
        };
        let start = LoopStart {
            state: self.flat(&control.op, values)?,
            outer: plan.outer.clone(),
            examples: match of.size {
                Some(n) => example_columns(self.cx, n, self.ids.len())?,
                None => vec![],
            },
            rows: of.size.unwrap_or_default() * self.ids.len(),
            // What is read anew before each step has to be read.
            steps_per_graph: if plan.fresh.is_empty() {
                of.together
            } else {
                1
            },
        };
        let device = self.cx.program.device();
        let found = replays.take(&plan.segment, &plan.layout, start, of.steps, device);
        Ok(match found {
            Lookup::Captured(step) => LoopRun::Replayed(Recorded { plan, step }),
            Lookup::Missing(why) => LoopRun::Plain(why),
        })
    }

    /// Runs a loop over batches by its recorded step.
    pub(crate) fn replay(
        &mut self,
        (op, body): (&Op, &Block),
        env: &mut Env,
        steps: &mut dyn Iterator<Item = Result<Gathered, RunError>>,
        mut recorded: Recorded<'_, '_>,
    ) -> Result<Vec<RtVal>, RunError> {
        let device = self.cx.program.device();
        let lost = || missing(op, "buffer");
        let mut ready = vec![];
        for batches in steps {
            let batches = batches?;
            let full = recorded.plan.of.size == Some(batches.n);
            if full && let Some(steps) = recorded.step.block_steps() {
                let all = batches.live.iter().all(|&live| live);
                if all {
                    ready.push(batches);
                    if ready.len() == steps {
                        self.replay_block(op, &mut ready, &mut recorded)?;
                    }
                    continue;
                }
            }
            for earlier in ready.drain(..) {
                self.replay_batches((op, body), env, earlier, &mut recorded)?;
            }
            if full {
                self.replay_batches((op, body), env, batches, &mut recorded)?;
                continue;
            }
            let Recorded { plan, step } = &mut recorded;
            let values = plan.values(step.copy_state(device).ok_or_else(lost)?, self.alone());
            let values = self.step(op, body, env, batches, values)?;
            step.set_state(self.flat(op, &values)?).ok_or_else(lost)?;
            step.stats.count_plain("a batch is not full", 1);
        }
        for last in ready {
            self.replay_batches((op, body), env, last, &mut recorded)?;
        }
        self.end(op, recorded)
    }

    /// Steps of all clients whose batches are gathered on the device, by one launch.
    fn replay_block(
        &mut self,
        op: &Op,
        ready: &mut Vec<Gathered>,
        Recorded { plan, step }: &mut Recorded<'_, '_>,
    ) -> Result<(), RunError> {
        let first = ready.first().and_then(|batches| batches.rows(ready.len()));
        let rows = first.ok_or_else(|| missing(op, "batch"))?;
        for batches in ready.drain(..) {
            self.take_part(&batches.live);
        }
        let losses = step.run_block(rows, self.cx.program.device())?;
        if plan.replays.required
            && let Some(why) = &step.stats.refused
        {
            return Err(ExecError::NotReplayed(why.clone()).into());
        }
        let grouped = !self.alone();
        self.losses(&[losses], grouped);
        Ok(())
    }

    /// A step of the clients that have a batch; the state of the others stays.
    fn replay_batches(
        &mut self,
        (op, body): (&Op, &Block),
        env: &mut Env,
        batches: Gathered,
        recorded: &mut Recorded<'_, '_>,
    ) -> Result<(), RunError> {
        let lost = || missing(op, "buffer");
        let device = self.cx.program.device();
        let old = match self.take_part(&batches.live) {
            true => None,
            false => Some(recorded.values(device).ok_or_else(lost)?),
        };
        let rows = batches.rows(1);
        if rows.is_none() {
            env.set(body.args[0], batches.batch(self.cx)?);
        }
        self.replay_step(op, env, rows, recorded)?;
        if let Some((live, old)) = self.live.take().zip(old) {
            let new = recorded.values(device).ok_or_else(lost)?;
            let kept = select_all(&live, &new, &old, device).ok_or_else(lost)?;
            let kept = self.flat(op, &kept)?;
            recorded.step.set_state(kept).ok_or_else(lost)?;
        }
        Ok(())
    }

    /// `opt.repeat`, by its recorded step where there is one.
    pub(crate) fn repeat(
        &mut self,
        control: &Control,
        body: &Block,
        env: &mut Env,
    ) -> Result<(), RunError> {
        let (op, cx) = (&control.op, self.cx);
        let (Some(replays), Some(times)) = (cx.replays, cx.program.index(op.operands[0])) else {
            return repeat(self, cx, control, body, env);
        };
        let values = carried(cx, control, 1, env)?;
        let of = Loop {
            size: None,
            steps: times as u64,
            together: 1,
            all: self.live.is_none(),
        };
        let recorded = self.recorded(replays, (control, body), env, &values, of)?;
        let mut recorded = match recorded {
            LoopRun::Replayed(recorded) => recorded,
            LoopRun::Plain(why) => {
                replays.count_plain(&why, times as u64);
                return repeat(self, cx, control, body, env);
            }
        };
        drop(values);
        for _ in 0..times {
            self.replay_step(op, env, None, &mut recorded)?;
        }
        let values = self.end(op, recorded)?;
        for (result, value) in op.results.iter().zip(values) {
            env.set(*result, value);
        }
        Ok(())
    }

    /// Ends a loop: its values.
    fn end(
        &self,
        op: &Op,
        Recorded { plan, step }: Recorded<'_, '_>,
    ) -> Result<Vec<RtVal>, RunError> {
        let state = step.copy_state(self.cx.program.device());
        let state = state.ok_or_else(|| missing(op, "buffer"))?;
        let values = plan.values(state, self.alone());
        plan.replays.give_back(*step);
        Ok(values)
    }

    /// A step on the batches that are set, if on any.
    fn replay_step(
        &mut self,
        op: &Op,
        env: &mut Env,
        rows: Option<DispatchTensor>,
        Recorded { plan, step }: &mut Recorded<'_, '_>,
    ) -> Result<(), RunError> {
        let (cx, grouped) = (self.cx, !self.alone());
        for control in &plan.fresh {
            self.control(control, env, &[])?;
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
            Some(why) if plan.replays.required => {
                return Err(ExecError::NotReplayed(why.clone()).into());
            }
            _ => self.losses(&losses, grouped),
        }
        Ok(())
    }

    /// Runs a loop without a record, and counts its steps under the reason.
    pub(crate) fn plainly(
        &mut self,
        (op, body): (&Op, &Block),
        env: &mut Env,
        steps: &mut dyn Iterator<Item = Result<Gathered, RunError>>,
        mut values: Vec<RtVal>,
        (replays, why): (&StepCache, &str),
    ) -> Result<Vec<RtVal>, RunError> {
        let mut count = 0;
        for batches in steps {
            values = self.step(op, body, env, batches?, values)?;
            count += 1;
        }
        replays.count_plain(why, count);
        Ok(values)
    }

    /// The leaves of values, with a client axis where a group runs.
    fn flat(&self, op: &Op, values: &[RtVal]) -> Result<Vec<DispatchTensor>, RunError> {
        let device = self.cx.program.device();
        let mut flat = vec![];
        for value in values {
            let tensors = match value {
                RtVal::Each(value) => leaves(value, device),
                shared if self.alone() => leaves(shared, device),
                shared => stack(&vec![shared.clone(); self.ids.len()], device)
                    .and_then(|each| leaves(each.unwrapped(), device)),
            };
            flat.extend(tensors.ok_or_else(|| missing(op, "tensors to carry"))?);
        }
        Ok(flat)
    }
}
