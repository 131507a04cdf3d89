//! Interprets a block of the schedule. Compute segments run in the same way on the server and on clients. Control
//! operations differ; each [`Interpreter`], which is the server or a group of clients, runs them itself.

pub(crate) mod loops;
pub(crate) mod named_streams;
pub(crate) mod public_examples;
pub(crate) mod rows;

use burn::tensor::DispatchTensor;
use burn_backend::TensorMetadata;
use burn_dispatch::DispatchDevice;
use fedround_exec::tensor::from_floats;
use fedround_ir::fed::{Kind, Value};
use fedround_passes::lowering::Frontend;
use fedround_passes::schedule::{Block, Compute, Control, Item};
use fedround_random::{Purpose, StreamKey};

use crate::context::{RoundContext, missing};
use crate::error::RunError;
use crate::value::batching::{select_active, stack};
use crate::value::{Env, RuntimeValue};
use fedround_exec::executor::SegmentInputs;
use fedround_exec::executor::Slots;
use fedround_exec::program::Variant;

/// Runs control operations, on the server or for a group of clients.
pub(crate) trait Interpreter {
    /// Runs a control operation. Nothing reads the values `last_uses` after it.
    fn run_control(
        &mut self,
        control: &Control,
        env: &mut Env,
        last_uses: &[Value],
    ) -> Result<(), RunError>;

    /// Collects the training losses of a segment, with a client axis if it is `grouped`.
    fn losses(&mut self, losses: &[DispatchTensor], grouped: bool);

    /// The number of clients in the group; 1 on the server.
    fn clients(&self) -> usize;

    /// Which clients of the group take the present step; `None` if all do.
    fn active(&self) -> Option<&[bool]>;

    /// The key of the next random draw of each client. Counts one more draw for the active clients.
    fn draw_keys(&mut self, purpose: Purpose) -> Vec<StreamKey>;

    /// How many random draws each client has made.
    fn draw_counts(&mut self) -> &mut [u64];

    /// Buffers of compute plans, reused from one step to the next.
    fn slots(&mut self) -> &mut Slots;
}

/// Runs the items of a block in order.
pub(crate) fn run_block(
    interpreter: &mut impl Interpreter,
    cx: RoundContext<'_>,
    block: &Block,
    env: &mut Env,
) -> Result<(), RunError> {
    for (item, last_uses) in &block.items {
        match item {
            Item::Control(control) => interpreter.run_control(control, env, last_uses)?,
            Item::Compute(i) => run_segment(interpreter, cx, *i, env, last_uses)?,
        }
    }
    Ok(())
}

/// Reads the inputs of a compute segment from the environment: their tensors in order, and the variant for their
/// shapes, as if all clients shared the inputs.
fn segment_inputs(
    cx: RoundContext<'_>,
    index: usize,
    env: &mut Env,
    last_uses: &[Value],
) -> Result<(Vec<DispatchTensor>, Variant), RunError> {
    let device = cx.program.device();
    let compute = &cx.program.schedule().segments[index];
    let mut tensors = Vec::with_capacity(16);
    let mut variant = Variant {
        segment: index,
        batches: vec![],
        rows: vec![],
        clients: 1,
        each: Vec::with_capacity(compute.ins.len()),
    };
    for v in &compute.ins {
        let (each, value) = match env.read(*v, last_uses) {
            Some(RuntimeValue::Stacked(value)) => (true, Some(*value)),
            value => (false, value),
        };
        variant.each.push(each);
        match value {
            Some(RuntimeValue::Params(leaves)) => tensors.extend(leaves),
            Some(RuntimeValue::Batch(examples, columns)) => {
                variant.batches.push(examples);
                tensors.extend(columns);
            }
            Some(RuntimeValue::Tensor(t)) => {
                if has_rows(cx, *v) {
                    let shape = t.shape();
                    let one = &shape.as_slice()[usize::from(each)..];
                    variant.rows.push(one.to_vec());
                }
                tensors.push(t);
            }
            Some(RuntimeValue::Numbers(own)) => tensors.push(own.tensor(device)),
            Some(RuntimeValue::Number(c)) => {
                tensors.push(from_floats(vec![c as f32], &[1], device))
            }
            _ => return Err(missing(&compute.ops[0], "tensor")),
        }
    }
    Ok((tensors, variant))
}

/// Runs a compute segment, compiled for the shapes of its inputs.
fn run_segment(
    interpreter: &mut impl Interpreter,
    cx: RoundContext<'_>,
    index: usize,
    env: &mut Env,
    last_uses: &[Value],
) -> Result<(), RunError> {
    let program = cx.program;
    let compute = &program.schedule().segments[index];
    let (mut inputs, mut variant) = segment_inputs(cx, index, env, last_uses)?;
    let mut grouped = variant.each.contains(&true);
    if grouped {
        variant.clients = interpreter.clients();
    }
    let mut segment = program.segment(&variant)?;
    if segment.supplies.are_random() && variant.clients != interpreter.clients() {
        // Each client draws its own random numbers, even if all inputs are the same for all clients.
        (variant.clients, grouped) = (interpreter.clients(), true);
        segment = program.segment(&variant)?;
    }
    inputs.extend(segment.hypers.iter().cloned());
    let keys = random_keys(interpreter, index, &segment.supplies);
    inputs.extend(segment.supplies.tensors(&keys, cx.secret, program.device()));
    let mut outputs = segment
        .plan
        .run(program.device(), inputs, interpreter.slots())?;
    let losses = outputs.split_off(outputs.len() - segment.losses);
    interpreter.losses(&losses, grouped);
    bind(interpreter, cx, compute, env, outputs, grouped)
}

/// The keys of the random numbers of a segment's next run, one for each client. Empty if the segment draws none.
pub(crate) fn random_keys(
    interpreter: &mut impl Interpreter,
    index: usize,
    supplies: &SegmentInputs,
) -> Vec<StreamKey> {
    let keys = match supplies.are_random() {
        true => interpreter.draw_keys(Purpose::Noise),
        false => vec![],
    };
    keys.into_iter().map(|key| key.with(index)).collect()
}

/// Binds the outputs of a segment: first its results, then the buffers that it updated, such as running means.
fn bind(
    interpreter: &impl Interpreter,
    cx: RoundContext<'_>,
    compute: &Compute,
    env: &mut Env,
    outputs: Vec<DispatchTensor>,
    grouped: bool,
) -> Result<(), RunError> {
    let program = cx.program;
    let mut outputs = outputs.into_iter();
    let (leaves, buffers) = (
        program.model().parameters().len(),
        program.model().buffers(),
    );
    for v in &compute.outs {
        let value = match program.schedule().module.type_of(*v).kind {
            Kind::Params => RuntimeValue::Params(outputs.by_ref().take(leaves).collect()),
            _ => match outputs.next() {
                Some(t) => RuntimeValue::Tensor(t),
                None => return Err(missing(&compute.ops[0], "output")),
            },
        };
        env.set(*v, RuntimeValue::stacked_if(grouped, value));
    }
    for v in &compute.advanced {
        let buffers: Vec<DispatchTensor> = outputs.by_ref().take(buffers.len()).collect();
        let value = env.peek(*v).and_then(|old| {
            if grouped {
                return advance(interpreter, cx, old, buffers);
            }
            if interpreter.active().is_none() {
                return with_buffers(cx, old.clone(), buffers);
            }
            // The same for all clients, but not for those that sit out the step.
            let (clients, device) = (interpreter.clients(), program.device());
            let buffers = buffers.into_iter().map(|b| repeat(b, clients, device));
            advance(interpreter, cx, old, buffers.collect::<Option<_>>()?)
        });
        let value = value.ok_or_else(|| missing(&compute.ops[0], "parameters"))?;
        env.set(*v, value);
    }
    Ok(())
}

/// Whether a value is features or labels, whose number of rows is known only at run time.
pub(crate) fn has_rows(cx: RoundContext<'_>, v: Value) -> bool {
    cx.program.schedule().module.type_of(v).kind.has_rows()
}

/// Parameters with new values of the model's buffers.
fn with_buffers(
    cx: RoundContext<'_>,
    value: RuntimeValue,
    next: Vec<DispatchTensor>,
) -> Option<RuntimeValue> {
    match value {
        RuntimeValue::Params(mut leaves) => {
            for (&b, next) in cx.program.model().buffers().iter().zip(next) {
                leaves[b] = next;
            }
            Some(RuntimeValue::Params(leaves))
        }
        RuntimeValue::Stacked(value) => with_buffers(cx, *value, next).map(RuntimeValue::stacked),
        _ => None,
    }
}

/// A tensor once for each client, along a new first axis.
fn repeat(t: DispatchTensor, clients: usize, device: &DispatchDevice) -> Option<DispatchTensor> {
    match stack(&vec![RuntimeValue::Tensor(t); clients], device)? {
        RuntimeValue::Stacked(value) => value.tensors().first().cloned(),
        _ => None,
    }
}

/// The parameters of a group of clients with new buffers for the active clients.
fn advance(
    interpreter: &impl Interpreter,
    cx: RoundContext<'_>,
    old: &RuntimeValue,
    next: Vec<DispatchTensor>,
) -> Option<RuntimeValue> {
    if next.is_empty() {
        return Some(old.clone());
    }
    let device = cx.program.device();
    let old = match old {
        RuntimeValue::Stacked(_) => old.clone(),
        shared => stack(&vec![shared.clone(); interpreter.clients()], device)?,
    };
    let new = with_buffers(cx, old.clone(), next)?;
    match interpreter.active() {
        Some(active) => select_active(active, &new, &old, device),
        None => Some(new),
    }
}
