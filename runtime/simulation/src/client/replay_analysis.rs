//! Decides whether the steps of a loop can be captured and replayed: by the loop's [form](LoopForm), and by the values
//! and clients with which it begins.

use std::sync::Arc;

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use fedround_ir::fed::Value;
use fedround_passes::schedule::{Block, Control};

use super::ClientGroup;
use super::loop_body::LoopSteps;
use super::replay_inputs::Entry;
use crate::error::RunError;
use crate::interpreter::Interpreter;
use crate::loop_form::{LoopForm, PlainReason, Runner};
use crate::value::{Env, RuntimeValue};
use fedround_exec::capture::{InputRole, StepCache, StepLayout};
use fedround_exec::program::{Segment, Variant};

/// Whether the steps of a loop can be replayed.
pub(crate) enum Analysis<'a, 'b> {
    Replayable(Box<Replayable<'a, 'b>>),
    /// The steps run operation by operation, for this reason.
    Plain(PlainReason),
}

/// A loop whose steps can be replayed.
pub(crate) struct Replayable<'a, 'b> {
    pub step_cache: &'a StepCache,
    /// The index of the compute segment that is the loop's body.
    pub index: usize,
    pub segment: Arc<Segment>,
    pub layout: StepLayout,
    pub loop_steps: LoopSteps,
    /// Tensors that the step reads and that are the same in all steps.
    pub outer: Vec<DispatchTensor>,
    /// Operations that run before each step, because they give other values each time.
    pub per_step_reads: Vec<&'b Control>,
    /// The values that the segment reads anew in each step, in order: of the batch, and of `per_step_reads`.
    reads: Vec<Value>,
    /// For each loop-carried value, its number of leaves, and whether it is parameters.
    carried: Vec<(usize, bool)>,
}

/// The layout of a step's buffers. `next` has the output that is the next value of each state leaf; a leaf that the
/// segment passes through unchanged needs no copy.
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

impl ClientGroup<'_> {
    /// Analyses a loop that is about to begin with `values`.
    pub(crate) fn replayable<'r, 'b>(
        &mut self,
        step_cache: &'r StepCache,
        (control, body): (&Control, &'b Block),
        env: &mut Env,
        values: &[RuntimeValue],
        loop_steps: LoopSteps,
    ) -> Result<Analysis<'r, 'b>, RunError> {
        let form = LoopForm::of(self.cx.program, control, body, Runner::Client);
        let LoopForm {
            index,
            constants,
            per_step_reads,
            next,
        } = match form {
            Ok(form) => form,
            Err(why) => return Ok(Analysis::Plain(why)),
        };
        if !loop_steps.all_active {
            return Ok(Analysis::Plain(PlainReason::SitOut));
        }
        if loop_steps.steps == 0 {
            return Ok(Analysis::Plain(PlainReason::NoFullBatch));
        }
        for control in constants {
            self.run_control(control, env, &[])?;
        }
        let compute = &self.cx.program.schedule().segments[index];
        self.read_for_shapes(&per_step_reads, env)?;
        let entry = Entry {
            body,
            size: loop_steps.size,
            per_step_reads: &per_step_reads,
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
            step_cache,
            index,
            layout: layout(&segment, start.roles, next),
            segment,
            loop_steps,
            outer: start.outer,
            per_step_reads,
            reads: start.reads,
            carried: start.carried,
        })))
    }

    /// Runs the operations before a step once, to know the shapes of their results. Counters of random draws are
    /// restored, so that the first step draws the same values.
    fn read_for_shapes(
        &mut self,
        per_step_reads: &[&Control],
        env: &mut Env,
    ) -> Result<(), RunError> {
        let counters = (self.epoch, self.collect_count, self.draw_counts.clone());
        for control in per_step_reads {
            self.run_control(control, env, &[])?;
        }
        (self.epoch, self.collect_count, self.draw_counts) = counters;
        Ok(())
    }
}

impl Replayable<'_, '_> {
    /// The tensors of the values that a step reads anew.
    pub fn columns(&self, env: &mut Env, device: &DispatchDevice) -> Option<Vec<DispatchTensor>> {
        let mut columns = vec![];
        for v in &self.reads {
            let value = match env.read(*v, std::slice::from_ref(v))? {
                RuntimeValue::Stacked(value) => *value,
                value => value,
            };
            match value {
                RuntimeValue::Batch(_, own) => columns.extend(own),
                RuntimeValue::Tensor(t) => columns.push(t),
                RuntimeValue::Numbers(own) => columns.push(own.tensor(device)),
                _ => return None,
            }
        }
        Some(columns)
    }

    /// The loop-carried values whose leaves are `state`.
    pub fn values(&self, state: Vec<DispatchTensor>, is_single: bool) -> Vec<RuntimeValue> {
        let mut state = state.into_iter();
        let value = |&(leaves, params): &(usize, bool)| {
            let mut own = state.by_ref().take(leaves);
            let value = match (params, leaves) {
                (false, 1) => own.next().map(RuntimeValue::Tensor),
                _ => Some(RuntimeValue::Params(own.collect())),
            };
            value.map(|value| RuntimeValue::stacked_if(!is_single, value))
        };
        self.carried.iter().filter_map(value).collect()
    }
}
