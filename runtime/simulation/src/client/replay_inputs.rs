//! Finds where each input of a loop's step comes from: the state that the loop carries, the batch,
//! or values from around the loop.

use burn::tensor::DispatchTensor;
use burn_backend::TensorMetadata;
use fedround_ir::fed::Value;
use fedround_passes::schedule::{Block, Compute, Control};

use super::Clients;
use crate::interpreter::has_rows;
use crate::loop_form::PlainReason;
use crate::value::batching::leaves;
use crate::value::{Env, RtVal};
use fedround_exec::capture::InputRole;

/// Where the inputs of a loop's segment come from, and what tells its form.
#[derive(Default)]
pub(crate) struct Inputs {
    pub roles: Vec<InputRole>,
    pub outer: Vec<DispatchTensor>,
    pub reads: Vec<Value>,
    pub each: Vec<bool>,
    pub batches: Vec<usize>,
    pub rows: Vec<Vec<usize>>,
    pub carried: Vec<(usize, bool)>,
}

/// What a loop is entered with.
pub(crate) struct Entry<'a> {
    pub body: &'a Block,
    /// Of its batches.
    pub size: Option<usize>,
    /// What is read anew at each step.
    pub fresh: &'a [&'a Control],
    pub env: &'a Env,
    /// What it carries.
    pub values: &'a [RtVal],
}

impl Inputs {
    /// A batch of so many examples.
    fn batch(&mut self, v: Value, examples: usize, columns: usize, each: bool) {
        self.each.push(each);
        self.batches.push(examples);
        self.read(v, columns);
    }

    /// The same, which the step gathers on the device.
    fn gathered(&mut self, examples: usize, columns: usize, each: bool) {
        self.each.push(each);
        self.batches.push(examples);
        self.roles.extend((0..columns).map(InputRole::Example));
    }

    /// A value of so many tensors that is read before each step.
    fn read(&mut self, v: Value, tensors: usize) {
        self.reads.push(v);
        self.roles.extend(vec![InputRole::Column; tensors]);
    }
}

impl Clients<'_> {
    /// Where the inputs of a loop's segment come from.
    pub(crate) fn inputs(
        &self,
        compute: &Compute,
        entry: &Entry<'_>,
    ) -> Result<Inputs, PlainReason> {
        let mut found = Inputs::default();
        for value in entry.values {
            let device = self.cx.program.device();
            let tensors = leaves(value.unwrapped(), device).ok_or(PlainReason::Carries)?;
            let params = matches!(value.unwrapped(), RtVal::Params(_));
            found.carried.push((tensors.len(), params));
        }
        for v in &compute.ins {
            let at = entry.body.args.iter().position(|arg| arg == v);
            match (at, entry.size) {
                (Some(0), Some(size)) => {
                    let columns = self.cx.program.schedule().columns.len();
                    match self.cx.resident {
                        Some(_) => found.gathered(size, columns, !self.alone()),
                        None => found.batch(*v, size, columns, !self.alone()),
                    }
                }
                // What is carried comes after the batch.
                _ => {
                    let at = at.map(|k| k - usize::from(entry.size.is_some()));
                    self.input(&mut found, *v, at, entry)?;
                }
            }
        }
        match self.alone() || found.each.contains(&true) {
            true => Ok(found),
            false => Err(PlainReason::Shares),
        }
    }

    /// Where an input comes from that is not the loop's batch: what is carried `at` a place, or a
    /// value from around the loop.
    fn input(
        &self,
        found: &mut Inputs,
        v: Value,
        at: Option<usize>,
        entry: &Entry<'_>,
    ) -> Result<(), PlainReason> {
        let value = match at {
            Some(k) => entry.values.get(k),
            None => entry.env.peek(v),
        };
        let value = value.ok_or(PlainReason::NotThere)?;
        let own = matches!(value, RtVal::Each(_));
        if let RtVal::Batch(n, columns) = value.unwrapped() {
            found.batch(v, *n, columns.len(), own);
            return Ok(());
        }
        let tensors = leaves(value.unwrapped(), self.cx.program.device());
        let tensors = tensors.ok_or(PlainReason::Reads)?;
        found.each.push(match at {
            Some(_) => !self.alone(),
            None => own,
        });
        if has_rows(self.cx, v) {
            let shape = tensors[0].shape();
            let one = &shape.as_slice()[usize::from(own)..];
            found.rows.push(one.to_vec());
        }
        match at {
            Some(k) => {
                let first: usize = found.carried[..k].iter().map(|(n, _)| n).sum();
                let own = (0..tensors.len()).map(|j| InputRole::State(first + j));
                found.roles.extend(own);
            }
            None if entry.fresh.iter().any(|c| c.op.results.contains(&v)) => {
                found.read(v, tensors.len());
            }
            None => {
                found.roles.extend(vec![InputRole::Outer; tensors.len()]);
                found.outer.extend(tensors);
            }
        }
        Ok(())
    }
}
