//! Loops over batches whose steps are recorded once and replayed.
//!
//! Batches of the full size, of all clients of the group, are replayed; other ones, such as an
//! epoch's short last batch, run plainly from the same state.

use burn::tensor::DispatchTensor;
use fedround_ir::fed::Op;
use fedround_passes::tensor::Block;

use super::batches::Gathered;
use super::client::Clients;
use super::missing;
use super::replayable::Replayable;
use super::stack::{leaves, stack};
use super::walk::{Walker, random_keys};
use crate::error::RunError;
use crate::replay::{Found, Replays, Start, Step};
use crate::value::{Env, RtVal};

impl Clients<'_> {
    /// Runs a loop over its recorded step, or plainly while there is none.
    pub(super) fn replay(
        &mut self,
        (op, body): (&Op, &Block),
        env: &mut Env,
        steps: &mut dyn Iterator<Item = Result<Gathered, RunError>>,
        plan: &Replayable<'_, '_>,
        values: Vec<RtVal>,
    ) -> Result<Vec<RtVal>, RunError> {
        let device = &self.cx.program.device;
        let start = Start {
            state: self.flat(op, &values)?,
            outer: plan.outer.clone(),
        };
        let found = plan
            .replays
            .take(&plan.segment, &plan.form, start, plan.steps, device);
        let mut step = match found {
            Found::Step(step) => step,
            Found::None(why) => {
                return self.plainly((op, body), env, steps, values, (plan.replays, &why));
            }
        };
        let lost = || missing(op, "buffer");
        for batches in steps {
            let batches = batches?;
            if batches.n == plan.size && batches.live.iter().all(|&live| live) {
                self.replay_step((op, body), env, plan, &mut step, batches)?;
                continue;
            }
            let values = plan.values(step.state(device).ok_or_else(lost)?, self.alone());
            let values = self.step(op, body, env, batches, values)?;
            step.set(self.flat(op, &values)?).ok_or_else(lost)?;
            step.stats
                .plain("a batch is not full for all clients of the group", 1);
        }
        let values = plan.values(step.state(device).ok_or_else(lost)?, self.alone());
        plan.replays.give_back(*step);
        Ok(values)
    }

    /// A step of all clients on full batches.
    fn replay_step(
        &mut self,
        (op, body): (&Op, &Block),
        env: &mut Env,
        plan: &Replayable<'_, '_>,
        step: &mut Step,
        batches: Gathered,
    ) -> Result<(), RunError> {
        let (cx, grouped) = (self.cx, !self.alone());
        self.steps.iter_mut().for_each(|steps| *steps += 1);
        env.set(body.args[0], batches.batch(cx));
        for control in &plan.fresh {
            self.control(control, env, &[])?;
        }
        let columns = plan.columns(env).ok_or_else(|| missing(op, "batch"))?;
        let supplies = &plan.segment.supplies;
        let keys = random_keys(self, cx, plan.index, supplies);
        let draws = supplies.draws(cx.federation.seed, &keys, &cx.program.device);
        let losses = step.run(columns, draws.collect(), &cx.program.device);
        let losses = losses.map_err(RunError::Graph)?;
        match &step.refused {
            Some(why) if plan.replays.required => return Err(RunError::Graph(why.clone())),
            _ => self.losses(&losses, grouped),
        }
        Ok(())
    }

    /// Runs a loop without a record, and counts its steps under the reason.
    pub(super) fn plainly(
        &mut self,
        (op, body): (&Op, &Block),
        env: &mut Env,
        steps: &mut dyn Iterator<Item = Result<Gathered, RunError>>,
        mut values: Vec<RtVal>,
        (replays, why): (&Replays, &str),
    ) -> Result<Vec<RtVal>, RunError> {
        let mut count = 0;
        for batches in steps {
            values = self.step(op, body, env, batches?, values)?;
            count += 1;
        }
        replays.plain(why, count);
        Ok(values)
    }

    /// The leaves of values, with a client axis where a group runs.
    fn flat(&self, op: &Op, values: &[RtVal]) -> Result<Vec<DispatchTensor>, RunError> {
        let device = &self.cx.program.device;
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
