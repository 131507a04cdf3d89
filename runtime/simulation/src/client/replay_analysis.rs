//! Decides whether the steps of a loop are replayed: by its [form](LoopForm), and by the values and the
//! clients that it begins with.

use std::sync::Arc;

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use fedround_ir::fed::Value;
use fedround_passes::schedule::{Block, Control};

use super::Clients;
use super::loop_body::Loop;
use super::replay_inputs::Entry;
use crate::error::RunError;
use crate::interpreter::Walker;
use crate::loop_form::{Body, LoopForm, PlainReason, Runner};
use crate::value::{Env, RtVal};
use fedround_exec::capture::{InputRole, StepCache, StepLayout};
use fedround_exec::program::{Segment, Variant};

/// Whether the steps of a loop can be replayed.
pub(crate) enum Analysis<'a, 'b> {
    Replayable(Box<Replayable<'a, 'b>>),
    /// They run op by op, for this reason.
    Plain(PlainReason),
}

/// A loop that can be replayed.
pub(crate) struct Replayable<'a, 'b> {
    pub replays: &'a StepCache,
    /// Index of its segment.
    pub index: usize,
    pub segment: Arc<Segment>,
    pub layout: StepLayout,
    pub of: Loop,
    /// Tensors from around the loop.
    pub outer: Vec<DispatchTensor>,
    /// What the executor reads before each step.
    pub fresh: Vec<&'b Control>,
    /// Values of those and of the batch that the segment takes, in order.
    reads: Vec<Value>,
    /// Of each value that is carried, its number of leaves, and whether they are parameters.
    carried: Vec<(usize, bool)>,
}

/// The form of a step of which each leaf's next value is an output. What the segment hands through
/// stays where it is.
fn layout(segment: &Segment, inputs: Vec<InputRole>, mut next: Vec<Option<usize>>) -> StepLayout {
    let passed = segment.plan.forwarded_inputs();
    for (leaf, from) in next.iter_mut().enumerate() {
        let input = from.and_then(|output| passed.get(output).copied().flatten());
        if input.and_then(|i| inputs.get(i)) == Some(&InputRole::State(leaf)) {
            *from = None;
        }
    }
    StepLayout { inputs, next }
}

impl Clients<'_> {
    /// Whether a loop's steps can be replayed, and with what. None are given where some clients sit
    /// out the loop.
    pub(crate) fn replayable<'r, 'b>(
        &mut self,
        replays: &'r StepCache,
        (control, body): (&Control, &'b Block),
        env: &mut Env,
        values: &[RtVal],
        of: Loop,
    ) -> Result<Analysis<'r, 'b>, RunError> {
        let LoopForm { body: own, next } =
            match LoopForm::of(self.cx.program, control, body, Runner::Client) {
                Ok(form) => form,
                Err(why) => return Ok(Analysis::Plain(why)),
            };
        let Body {
            index,
            numbers,
            fresh,
        } = own;
        if !of.all {
            return Ok(Analysis::Plain(PlainReason::SitOut));
        }
        if of.steps == 0 {
            return Ok(Analysis::Plain(PlainReason::NoFullBatch));
        }
        for control in numbers {
            self.control(control, env, &[])?;
        }
        let compute = &self.cx.program.schedule().segments[index];
        self.look(&fresh, env)?;
        let entry = Entry {
            body,
            size: of.size,
            fresh: &fresh,
            env,
            values,
        };
        let start = match self.inputs(compute, &entry) {
            Ok(start) => start,
            Err(why) => return Ok(Analysis::Plain(why)),
        };
        let variant = Variant {
            segment: index,
            batches: start.batches,
            rows: start.rows,
            clients: self.ids.len(),
            each: start.each,
        };
        let segment = self.cx.program.segment(&variant)?;
        Ok(Analysis::Replayable(Box::new(Replayable {
            replays,
            index,
            layout: layout(&segment, start.roles, next),
            segment,
            of,
            outer: start.outer,
            fresh,
            reads: start.reads,
            carried: start.carried,
        })))
    }

    /// Makes what a step would read, for its shapes: the step will read the same.
    fn look(&mut self, fresh: &[&Control], env: &mut Env) -> Result<(), RunError> {
        let counts = (self.epoch, self.collected, self.random_runs.clone());
        for control in fresh {
            self.control(control, env, &[])?;
        }
        (self.epoch, self.collected, self.random_runs) = counts;
        Ok(())
    }
}

impl Replayable<'_, '_> {
    /// The tensors that the executor has read for a step.
    pub fn columns(&self, env: &mut Env, device: &DispatchDevice) -> Option<Vec<DispatchTensor>> {
        let mut columns = vec![];
        for v in &self.reads {
            let value = match env.read(*v, std::slice::from_ref(v))? {
                RtVal::Each(value) => *value,
                value => value,
            };
            match value {
                RtVal::Batch(_, own) => columns.extend(own),
                RtVal::Tensor(t) => columns.push(t),
                RtVal::Numbers(own) => columns.push(own.tensor(device)),
                _ => return None,
            }
        }
        Some(columns)
    }

    /// The values that leaves of the state are.
    pub fn values(&self, state: Vec<DispatchTensor>, alone: bool) -> Vec<RtVal> {
        let mut state = state.into_iter();
        let value = |&(leaves, params): &(usize, bool)| {
            let mut own = state.by_ref().take(leaves);
            let value = match (params, leaves) {
                (false, 1) => own.next().map(RtVal::Tensor),
                _ => Some(RtVal::Params(own.collect())),
            };
            value.map(|value| if alone { value } else { RtVal::each(value) })
        };
        self.carried.iter().filter_map(value).collect()
    }
}
