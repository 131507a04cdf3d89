//! Decides whether the steps of a loop can be replayed.
//!
//! The body must be one compute segment that makes the next values of all that the loop carries,
//! with nothing but [reads](Body) before it.

use std::sync::Arc;

use burn::tensor::DispatchTensor;
use fedround_ir::fed::Value;
use fedround_passes::lowering::Frontend;
use fedround_passes::schedule::{Block, Compute, Control};

use super::Clients;
use super::loop_body::{Body, Loop, PlainReason};
use super::replay_inputs::Entry;
use crate::error::RunError;
use crate::interpreter::Walker;
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
    /// What the engine reads before each step.
    pub fresh: Vec<&'b Control>,
    /// Values of those and of the batch that the segment takes, in order.
    reads: Vec<Value>,
    /// Of each value that is carried, its number of leaves, and whether they are parameters.
    carried: Vec<(usize, bool)>,
}

/// The form of a step of which each leaf's next value is an output. What the segment hands through
/// stays where it is.
fn layout(segment: &Segment, inputs: Vec<InputRole>, mut next: Vec<Option<usize>>) -> StepLayout {
    let passed = segment.plan.passed();
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
        body: &'b Block,
        env: &mut Env,
        values: &[RtVal],
        of: Loop,
    ) -> Result<Analysis<'r, 'b>, RunError> {
        let Some(Body {
            index,
            numbers,
            fresh,
        }) = Body::of(body)
        else {
            return Ok(Analysis::Plain("the loop's body is more than one segment"));
        };
        if !of.all {
            return Ok(Analysis::Plain(
                "some clients of the group sit out the loop",
            ));
        }
        if of.steps == 0 {
            return Ok(Analysis::Plain("no client of the group has a full batch"));
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
        let start = self.inputs(compute, &entry).and_then(|start| {
            let next = self.next_leaves(compute, (body, of.size), &start.carried)?;
            Ok((start, next))
        });
        let (start, next) = match start {
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
        let counts = (self.epoch, self.random_runs.clone());
        for control in fresh {
            self.control(control, env, &[])?;
        }
        (self.epoch, self.random_runs) = counts;
        Ok(())
    }

    /// For each leaf that is carried, the output of the segment that is its next value.
    fn next_leaves(
        &self,
        compute: &Compute,
        (body, size): (&Block, Option<usize>),
        carried: &[(usize, bool)],
    ) -> Result<Vec<Option<usize>>, PlainReason> {
        let program = self.cx.program;
        let buffers = program.model().buffers();
        let mut first = vec![];
        let mut outputs = 0;
        for v in &compute.outs {
            first.push(outputs);
            outputs += program.tensors(*v);
        }
        let advanced = |v: &Value| {
            let at = compute.advanced.iter().position(|w| w == v)?;
            Some(outputs + at * buffers.len())
        };
        if compute.advanced.iter().any(|v| !body.args.contains(v)) {
            return Err("it advances buffers of parameters from around it");
        }
        let mut next = vec![];
        for (k, (yielded, &(leaves, _))) in body.yields.iter().zip(carried).enumerate() {
            let made = compute.outs.iter().position(|v| v == yielded);
            if let Some(at) = made {
                next.extend((0..leaves).map(|j| Some(first[at] + j)));
            } else if body.args.get(k + usize::from(size.is_some())) == Some(yielded) {
                let from = advanced(yielded);
                let buffer = |j: usize| buffers.iter().position(|&b| b == j);
                next.extend((0..leaves).map(|j| Some(from? + buffer(j)?)));
            } else {
                return Err("it hands on a value that it does not make");
            }
        }
        Ok(next)
    }
}

impl Replayable<'_, '_> {
    /// The tensors that the engine has read for a step.
    pub fn columns(&self, env: &mut Env) -> Option<Vec<DispatchTensor>> {
        let mut columns = vec![];
        for v in &self.reads {
            let value = match env.read(*v, std::slice::from_ref(v))? {
                RtVal::Each(value) => *value,
                value => value,
            };
            match value {
                RtVal::Batch(_, own) => columns.extend(own),
                RtVal::Tensor(t) => columns.push(t),
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
