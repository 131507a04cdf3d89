//! Interprets a block of the schedule. Compute segments run here; control operations are carried
//! out by the [`Walker`], which is the server or a group of clients.

pub(crate) mod loops;
pub(crate) mod named;
pub(crate) mod public;
pub(crate) mod rows;

use burn::tensor::DispatchTensor;
use burn_backend::TensorMetadata;
use fedround_exec::tensor::from_floats;
use fedround_ir::fed::{Kind, Value};
use fedround_passes::lowering::Frontend;
use fedround_passes::schedule::{Block, Compute, Control, Item};
use fedround_random::{Purpose, StreamKey};

use crate::context::{RoundContext, missing};
use crate::error::RunError;
use crate::value::batching::{select, stack};
use crate::value::{Env, RtVal};
use fedround_exec::executor::SegmentInputs;
use fedround_exec::executor::Slots;
use fedround_exec::program::Variant;

/// Carries out control ops: the server between clients, or one client.
pub(crate) trait Walker {
    fn control(&mut self, control: &Control, env: &mut Env, last: &[Value])
    -> Result<(), RunError>;

    /// Collects the training losses of a segment: one for each client if it ran for a group.
    fn losses(&mut self, losses: &[DispatchTensor], grouped: bool);

    /// How many clients walk in step: those of a group, or one.
    fn clients(&self) -> usize;

    /// Which of them take the present step, where not all do.
    fn live(&self) -> Option<&[bool]>;

    /// The key of the next random draw of each client that walks. Counts one more draw for those
    /// that take the step.
    fn draw_keys(&mut self, purpose: Purpose) -> Vec<StreamKey>;

    /// How many draws each client that walks has made.
    fn draws(&mut self) -> &mut [u64];

    /// Slots for plans, kept between steps.
    fn slots(&mut self) -> &mut Slots;
}

/// Runs the items of a block in order.
pub(crate) fn walk(
    walker: &mut impl Walker,
    cx: RoundContext<'_>,
    block: &Block,
    env: &mut Env,
) -> Result<(), RunError> {
    for (item, last) in &block.items {
        match item {
            Item::Control(control) => walker.control(control, env, last)?,
            Item::Compute(i) => compute(walker, cx, *i, env, last)?,
        }
    }
    Ok(())
}

/// What a segment reads, in the order of its inputs.
#[derive(Default)]
struct Inputs {
    tensors: Vec<DispatchTensor>,
    /// Which of its values have a client axis.
    each: Vec<bool>,
    /// Sizes of the batches among them.
    batches: Vec<usize>,
    /// Shapes, for one client, of the features and labels among them.
    rows: Vec<Vec<usize>>,
}

fn inputs(
    cx: RoundContext<'_>,
    compute: &Compute,
    env: &mut Env,
    last: &[Value],
) -> Result<Inputs, RunError> {
    let device = cx.program.device();
    let mut read = Inputs {
        each: Vec::with_capacity(compute.ins.len()),
        tensors: Vec::with_capacity(16),
        ..Inputs::default()
    };
    for v in &compute.ins {
        let (each, value) = match env.read(*v, last) {
            Some(RtVal::Each(value)) => (true, Some(*value)),
            value => (false, value),
        };
        read.each.push(each);
        match value {
            Some(RtVal::Params(leaves)) => read.tensors.extend(leaves),
            Some(RtVal::Batch(examples, columns)) => {
                read.batches.push(examples);
                read.tensors.extend(columns);
            }
            Some(RtVal::Tensor(t)) => {
                if has_rows(cx, *v) {
                    let shape = t.shape();
                    read.rows
                        .push(shape.as_slice()[usize::from(each)..].to_vec());
                }
                read.tensors.push(t);
            }
            Some(RtVal::Numbers(own)) => read.tensors.push(own.tensor(device)),
            Some(RtVal::Host(c)) => read.tensors.push(from_floats(vec![c as f32], &[1], device)),
            _ => return Err(missing(&compute.ops[0], "tensor")),
        }
    }
    Ok(read)
}

fn compute(
    walker: &mut impl Walker,
    cx: RoundContext<'_>,
    index: usize,
    env: &mut Env,
    last: &[Value],
) -> Result<(), RunError> {
    let program = cx.program;
    let compute = &program.schedule().segments[index];
    let read = inputs(cx, compute, env, last)?;
    let mut inputs = read.tensors;
    let mut grouped = read.each.contains(&true);
    let mut variant = Variant {
        segment: index,
        batches: read.batches,
        rows: read.rows,
        clients: if grouped { walker.clients() } else { 1 },
        each: read.each,
    };
    let mut segment = program.segment(&variant)?;
    if segment.supplies.are_random() && variant.clients != walker.clients() {
        // Clients draw for themselves, even where they read the same values.
        (variant.clients, grouped) = (walker.clients(), true);
        segment = program.segment(&variant)?;
    }
    inputs.extend(segment.hypers.iter().cloned());
    let keys = random_keys(walker, index, &segment.supplies);
    inputs.extend(segment.supplies.tensors(&keys, cx.secret, program.device()));
    let mut outputs = segment.plan.run(program.device(), inputs, walker.slots())?;
    let losses = outputs.split_off(outputs.len() - segment.losses);
    walker.losses(&losses, grouped);
    bind(walker, cx, compute, env, outputs, grouped)
}

/// The keys of the random numbers of a segment's next run, none where it draws none.
pub(crate) fn random_keys(
    walker: &mut impl Walker,
    index: usize,
    supplies: &SegmentInputs,
) -> Vec<StreamKey> {
    let keys = match supplies.are_random() {
        true => walker.draw_keys(Purpose::Noise),
        false => vec![],
    };
    keys.into_iter().map(|key| key.with(index)).collect()
}

/// Binds what a segment gives: its results, then the buffers that it advanced.
fn bind(
    walker: &impl Walker,
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
            Kind::Params => RtVal::Params(outputs.by_ref().take(leaves).collect()),
            _ => match outputs.next() {
                Some(t) => RtVal::Tensor(t),
                None => return Err(missing(&compute.ops[0], "output")),
            },
        };
        let value = if grouped { RtVal::each(value) } else { value };
        env.set(*v, value);
    }
    for v in &compute.advanced {
        let buffers: Vec<DispatchTensor> = outputs.by_ref().take(buffers.len()).collect();
        let value = env.peek(*v).and_then(|old| match grouped {
            true => advance(walker, cx, old, buffers),
            false => with_buffers(cx, old.clone(), buffers),
        });
        let value = value.ok_or_else(|| missing(&compute.ops[0], "parameters"))?;
        env.set(*v, value);
    }
    Ok(())
}

/// Whether a value is features or labels, whose shapes are known when they are there.
pub(crate) fn has_rows(cx: RoundContext<'_>, v: Value) -> bool {
    let kind = cx.program.schedule().module.type_of(v).kind;
    matches!(kind, Kind::Tensor | Kind::Labels)
}

/// Parameters with other buffers.
fn with_buffers(cx: RoundContext<'_>, value: RtVal, next: Vec<DispatchTensor>) -> Option<RtVal> {
    match value {
        RtVal::Params(mut leaves) => {
            for (&b, next) in cx.program.model().buffers().iter().zip(next) {
                leaves[b] = next;
            }
            Some(RtVal::Params(leaves))
        }
        RtVal::Each(value) => with_buffers(cx, *value, next).map(RtVal::each),
        _ => None,
    }
}

/// The parameters of a group of clients with the buffers that those in the present step made.
fn advance(
    walker: &impl Walker,
    cx: RoundContext<'_>,
    old: &RtVal,
    next: Vec<DispatchTensor>,
) -> Option<RtVal> {
    if next.is_empty() {
        return Some(old.clone());
    }
    let device = cx.program.device();
    let old = match old {
        RtVal::Each(_) => old.clone(),
        shared => stack(&vec![shared.clone(); walker.clients()], device)?,
    };
    let new = with_buffers(cx, old.clone(), next)?;
    match walker.live() {
        Some(live) => select(live, &new, &old, device),
        None => Some(new),
    }
}

/// A value that is defined here, or known before the round.
pub(crate) fn known(cx: RoundContext<'_>, v: Value, env: &Env) -> Option<RtVal> {
    let value = env.peek(v).cloned();
    value.or_else(|| cx.program.real(v).map(RtVal::Host))
}
