//! Which loops over batches can be replayed.
//!
//! A body is to be one compute segment that makes the next values of what the loop carries, with
//! [reads](Body) before it.

use std::sync::Arc;

use burn::tensor::DispatchTensor;
use burn_backend::TensorMetadata;
use fedround_ir::fed::{Kind, Value};
use fedround_passes::tensor::{Block, Compute, Control, Frontend};

use super::body::{Body, Loop};
use super::client::Clients;
use super::stack::leaves;
use super::walk::{Walker, has_rows};
use crate::error::RunError;
use crate::program::{Segment, Variant};
use crate::replay::{Form, Replays, Role};
use crate::value::{Env, RtVal};

/// A loop that can be replayed.
pub(super) struct Replayable<'a, 'b> {
    pub replays: &'a Replays,
    /// Index of its segment.
    pub index: usize,
    pub segment: Arc<Segment>,
    pub form: Form,
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

/// Why a loop runs plainly.
type Why = &'static str;

/// Where the inputs of a loop's segment come from, and what tells its form.
#[derive(Default)]
struct Inputs {
    roles: Vec<Role>,
    outer: Vec<DispatchTensor>,
    reads: Vec<Value>,
    each: Vec<bool>,
    batches: Vec<usize>,
    rows: Vec<Vec<usize>>,
    carried: Vec<(usize, bool)>,
}

impl Clients<'_> {
    /// Whether a loop's steps can be replayed, and with what. None are given where some clients sit
    /// out the loop.
    pub(super) fn replayable<'r, 'b>(
        &mut self,
        replays: &'r Replays,
        body: &'b Block,
        env: &mut Env,
        values: &[RtVal],
        of: Loop,
    ) -> Result<Result<Replayable<'r, 'b>, Why>, RunError> {
        let Some(Body {
            index,
            numbers,
            fresh,
        }) = Body::of(body)
        else {
            return Ok(Err("the loop's body is more than one segment"));
        };
        if !of.all {
            return Ok(Err("some clients of the group sit out the loop"));
        }
        if of.steps == 0 {
            return Ok(Err("no client of the group has a full batch"));
        }
        for control in numbers {
            self.control(control, env, &[])?;
        }
        let compute = &self.cx.program.schedule.segments[index];
        self.look(&fresh, env)?;
        let start = self.inputs(compute, (body, of.size), &fresh, env, values);
        let start = start.and_then(|start| {
            let next = self.next_leaves(compute, (body, of.size), &start.carried)?;
            Ok((start, next))
        });
        let (start, next) = match start {
            Ok(start) => start,
            Err(why) => return Ok(Err(why)),
        };
        let variant = Variant {
            segment: index,
            batches: start.batches,
            rows: start.rows,
            clients: self.ids.len(),
            each: start.each,
        };
        let segment = self.cx.program.segment(&variant)?;
        let passed = segment.plan.passed();
        // What the segment hands through stays where it is.
        let stays = |leaf: usize, output: usize| {
            let input = passed.get(output).copied().flatten();
            input.and_then(|i| start.roles.get(i)) == Some(&Role::State(leaf))
        };
        let next = next.into_iter().enumerate();
        let next = next.map(|(leaf, output)| output.filter(|&output| !stays(leaf, output)));
        let next = next.collect();
        Ok(Ok(Replayable {
            replays,
            index,
            segment,
            form: Form {
                inputs: start.roles,
                next,
            },
            of,
            outer: start.outer,
            fresh,
            reads: start.reads,
            carried: start.carried,
        }))
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

    /// Where the inputs of a loop's segment come from.
    fn inputs(
        &self,
        compute: &Compute,
        (body, size): (&Block, Option<usize>),
        fresh: &[&Control],
        env: &Env,
        values: &[RtVal],
    ) -> Result<Inputs, Why> {
        let mut found = Inputs::default();
        let mut firsts = vec![];
        for value in values {
            let device = &self.cx.program.device;
            let tensors =
                leaves(value.unwrapped(), device).ok_or("it carries more than tensors")?;
            firsts.push(found.carried.iter().map(|(n, _)| n).sum::<usize>());
            let params = matches!(value.unwrapped(), RtVal::Params(_));
            found.carried.push((tensors.len(), params));
        }
        for v in &compute.ins {
            let at = body.args.iter().position(|arg| arg == v);
            if let (Some(0), Some(size)) = (at, size) {
                found.each.push(!self.alone());
                found.batches.push(size);
                found.read(*v, self.cx.program.schedule.columns.len());
                continue;
            }
            // What is carried comes after the batch.
            let at = at.map(|k| k - usize::from(size.is_some()));
            let value = match at {
                Some(k) => values.get(k),
                None => env.peek(*v),
            };
            let value = value.ok_or("it reads what is not there")?;
            if let RtVal::Batch(n, columns) = value.unwrapped() {
                found.each.push(matches!(value, RtVal::Each(_)));
                found.batches.push(*n);
                found.read(*v, columns.len());
                continue;
            }
            let tensors = leaves(value.unwrapped(), &self.cx.program.device);
            let tensors = tensors.ok_or("it reads more than tensors and its batch")?;
            let each = match at {
                Some(_) => !self.alone(),
                None => matches!(value, RtVal::Each(_)),
            };
            found.each.push(each);
            if has_rows(self.cx, *v) {
                let lead = usize::from(matches!(value, RtVal::Each(_)));
                let shape = tensors[0].shape();
                found.rows.push(shape.as_slice()[lead..].to_vec());
            }
            match at {
                Some(k) => {
                    let first = firsts[k];
                    let own = (0..tensors.len()).map(|j| Role::State(first + j));
                    found.roles.extend(own);
                }
                None if fresh.iter().any(|c| c.op.results.contains(v)) => {
                    found.read(*v, tensors.len());
                }
                None => {
                    found.roles.extend(vec![Role::Outer; tensors.len()]);
                    found.outer.extend(tensors);
                }
            }
        }
        match self.alone() || found.each.contains(&true) {
            true => Ok(found),
            false => Err("its clients share all that it reads"),
        }
    }

    /// For each leaf that is carried, the output of the segment that is its next value.
    fn next_leaves(
        &self,
        compute: &Compute,
        (body, size): (&Block, Option<usize>),
        carried: &[(usize, bool)],
    ) -> Result<Vec<Option<usize>>, Why> {
        let program = self.cx.program;
        let (params, buffers) = (program.tracer.parameters().len(), program.tracer.buffers());
        let mut first = vec![];
        let mut outputs = 0;
        for v in &compute.outs {
            first.push(outputs);
            outputs += match program.schedule.module.type_of(*v).kind {
                Kind::Params => params,
                _ => 1,
            };
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

impl Inputs {
    /// A value of so many tensors that is read before each step.
    fn read(&mut self, v: Value, tensors: usize) {
        self.reads.push(v);
        self.roles.extend(vec![Role::Column; tensors]);
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
