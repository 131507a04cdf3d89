//! Finds where each input of a loop's step comes from: the loop-carried state, the batch, or values from outside the
//! loop.

use burn::tensor::DispatchTensor;
use burn_backend::TensorMetadata;
use fedround_ir::fed::{Op, Value};
use fedround_passes::schedule::{Block, Compute, Control};

use super::ClientGroup;
use crate::context::missing;
use crate::error::RunError;
use crate::interpreter::has_rows;
use crate::loop_form::PlainReason;
use crate::value::batching::{leaves, stack};
use crate::value::{Env, RuntimeValue};
use fedround_exec::capture::InputRole;

/// Where the inputs of a loop's segment come from, and the shapes for which it is compiled.
#[derive(Default)]
pub(crate) struct Inputs {
    /// For each input tensor, where it comes from.
    pub roles: Vec<InputRole>,
    /// The tensors from outside the loop.
    pub outer: Vec<DispatchTensor>,
    /// The values that are read before each step.
    pub reads: Vec<Value>,
    /// For each input value, whether it has a client axis.
    pub each: Vec<bool>,
    /// The number of examples of each batch among the inputs.
    pub batches: Vec<usize>,
    /// The shapes for one client of the features and labels among the inputs.
    pub rows: Vec<Vec<usize>>,
    /// For each loop-carried value, its number of leaves, and whether it is parameters.
    pub carried: Vec<(usize, bool)>,
}

/// A loop that is about to begin.
pub(crate) struct Entry<'a> {
    pub body: &'a Block,
    /// The number of examples in a full batch; `None` of a loop without batches.
    pub size: Option<usize>,
    /// Operations that run before each step.
    pub per_step_reads: &'a [&'a Control],
    pub env: &'a Env,
    /// The first loop-carried values.
    pub values: &'a [RuntimeValue],
}

impl Inputs {
    /// Adds a batch whose tensors are made before each step.
    fn batch(&mut self, v: Value, examples: usize, columns: usize, each: bool) {
        self.each.push(each);
        self.batches.push(examples);
        self.read(v, columns);
    }

    /// Adds a batch that the step gathers from the examples on the device.
    fn device_batch(&mut self, examples: usize, columns: usize, each: bool) {
        self.each.push(each);
        self.batches.push(examples);
        self.roles.extend((0..columns).map(InputRole::Example));
    }

    /// Adds a value of `tensors` tensors that is read before each step.
    fn read(&mut self, v: Value, tensors: usize) {
        self.reads.push(v);
        self.roles.extend(vec![InputRole::Column; tensors]);
    }
}

impl ClientGroup<'_> {
    /// Finds where the inputs of a loop's segment come from.
    pub(crate) fn inputs(
        &self,
        compute: &Compute,
        entry: &Entry<'_>,
    ) -> Result<Inputs, PlainReason> {
        let mut found = Inputs::default();
        for value in entry.values {
            let device = self.cx.program.device();
            let tensors = leaves(value.inner(), device).ok_or(PlainReason::Carries)?;
            let params = matches!(value.inner(), RuntimeValue::Params(_));
            found.carried.push((tensors.len(), params));
        }
        for v in &compute.ins {
            let arg = entry.body.args.iter().position(|arg| arg == v);
            match (arg, entry.size) {
                (Some(0), Some(size)) => {
                    let columns = self.cx.program.schedule().columns.len();
                    match self.cx.device_examples {
                        Some(_) => found.device_batch(size, columns, !self.is_single()),
                        None => found.batch(*v, size, columns, !self.is_single()),
                    }
                }
                // Loop-carried values are the arguments after the batch.
                _ => {
                    let carried = arg.map(|k| k - usize::from(entry.size.is_some()));
                    self.input(&mut found, *v, carried, entry)?;
                }
            }
        }
        match self.is_single() || found.each.contains(&true) {
            true => Ok(found),
            false => Err(PlainReason::Shares),
        }
    }

    /// Finds where an input comes from that is not the loop's batch: the loop-carried value of index `carried`, or a
    /// value from outside the loop.
    fn input(
        &self,
        found: &mut Inputs,
        v: Value,
        carried: Option<usize>,
        entry: &Entry<'_>,
    ) -> Result<(), PlainReason> {
        let value = match carried {
            Some(k) => entry.values.get(k),
            None => entry.env.peek(v),
        };
        let value = value.ok_or(PlainReason::NotThere)?;
        let own = matches!(value, RuntimeValue::Stacked(_));
        if let RuntimeValue::Batch(n, columns) = value.inner() {
            found.batch(v, *n, columns.len(), own);
            return Ok(());
        }
        let tensors = leaves(value.inner(), self.cx.program.device());
        let tensors = tensors.ok_or(PlainReason::Reads)?;
        found.each.push(match carried {
            Some(_) => !self.is_single(),
            None => own,
        });
        if has_rows(self.cx, v) {
            let shape = tensors[0].shape();
            let one = &shape.as_slice()[usize::from(own)..];
            found.rows.push(one.to_vec());
        }
        match carried {
            Some(k) => {
                let first: usize = found.carried[..k].iter().map(|(n, _)| n).sum();
                let own = (0..tensors.len()).map(|j| InputRole::State(first + j));
                found.roles.extend(own);
            }
            None if entry
                .per_step_reads
                .iter()
                .any(|c| c.op.results.contains(&v)) =>
            {
                found.read(v, tensors.len());
            }
            None => {
                found.roles.extend(vec![InputRole::Outer; tensors.len()]);
                found.outer.extend(tensors);
            }
        }
        Ok(())
    }

    /// The leaves of loop-carried values, with a client axis if this is a group of several clients.
    pub(crate) fn flat_leaves(
        &self,
        op: &Op,
        values: &[RuntimeValue],
    ) -> Result<Vec<DispatchTensor>, RunError> {
        let device = self.cx.program.device();
        let mut flat = vec![];
        for value in values {
            let tensors = match value {
                RuntimeValue::Stacked(value) => leaves(value, device),
                shared if self.is_single() => leaves(shared, device),
                shared => stack(&vec![shared.clone(); self.ids.len()], device)
                    .and_then(|each| leaves(each.inner(), device)),
            };
            flat.extend(tensors.ok_or_else(|| missing(op, "tensors to carry"))?);
        }
        Ok(flat)
    }
}
