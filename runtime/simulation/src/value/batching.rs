//! Joins the values of several clients along a new first axis, the client axis, and splits them
//! again.

use std::sync::Arc;

use burn::tensor::{DispatchTensor, Shape};
use burn_backend::TensorMetadata;
use burn_dispatch::DispatchDevice;
use fedround_exec::tensor::{constant, from_floats};
use fedround_ir::tensor::{Constant, DType, Op, TensorType};

use crate::value::{Numbers, RtVal};

/// Joins the values of clients, in order, along a new first axis. `None` for values that are not
/// tensors.
pub(crate) fn stack(values: &[RtVal], device: &DispatchDevice) -> Option<RtVal> {
    let first = values.first()?;
    let numbers = values.iter().map(|value| match value {
        RtVal::Host(c) => Some(*c as f32),
        _ => None,
    });
    if let Some(numbers) = numbers.collect::<Option<Vec<f32>>>() {
        return Some(RtVal::each(RtVal::Numbers(Arc::new(Numbers::new(numbers)))));
    }
    let first = leaves(first, device)?;
    let mut columns: Vec<Vec<DispatchTensor>> = vec![vec![]; first.len()];
    for value in values {
        for (column, leaf) in columns.iter_mut().zip(leaves(value, device)?) {
            column.push(lift(leaf)?);
        }
    }
    let mut joined = columns
        .into_iter()
        .map(|column| apply(&Op::Cat(0), column))
        .collect::<Option<Vec<_>>>()?;
    Some(RtVal::each(match values.first()? {
        RtVal::Params(_) => RtVal::Params(joined),
        _ => RtVal::Tensor(joined.pop()?),
    }))
}

/// The `k`-th client's own value; a shared value is everybody's.
pub(crate) fn unstack(value: &RtVal, k: usize) -> Option<RtVal> {
    let RtVal::Each(value) = value else {
        return Some(value.clone());
    };
    match value.as_ref() {
        RtVal::Params(leaves) => {
            let own = leaves.iter().map(|t| lane(t, k));
            own.collect::<Option<_>>().map(RtVal::Params)
        }
        RtVal::Tensor(t) => lane(t, k).map(RtVal::Tensor),
        RtVal::Numbers(own) => own.of(k).map(RtVal::Host),
        _ => None,
    }
}

/// `new` where a client is live, `old` elsewhere: a step that a client does not take changes
/// nothing of it.
pub(crate) fn select(
    live: &[bool],
    new: &RtVal,
    old: &RtVal,
    device: &DispatchDevice,
) -> Option<RtVal> {
    let mut chosen = vec![];
    for (new, old) in joined(new, device)?.into_iter().zip(joined(old, device)?) {
        chosen.push(apply(&Op::Where, vec![mask(live, &new, device), new, old])?);
    }
    Some(RtVal::each(match new.unwrapped() {
        RtVal::Params(_) => RtVal::Params(chosen),
        _ => RtVal::Tensor(chosen.pop()?),
    }))
}

/// [`select`] of several values.
pub(crate) fn select_all(
    live: &[bool],
    new: &[RtVal],
    old: &[RtVal],
    device: &DispatchDevice,
) -> Option<Vec<RtVal>> {
    let pairs = new.iter().zip(old);
    let chosen = pairs.map(|(new, old)| select(live, new, old, device));
    chosen.collect()
}

/// The leaves of a value with a client axis, of size 1 where clients share it.
fn joined(value: &RtVal, device: &DispatchDevice) -> Option<Vec<DispatchTensor>> {
    match value {
        RtVal::Each(value) => leaves(value, device),
        shared => leaves(shared, device)?.into_iter().map(lift).collect(),
    }
}

/// The tensors of a value.
pub(crate) fn leaves(value: &RtVal, device: &DispatchDevice) -> Option<Vec<DispatchTensor>> {
    match value {
        RtVal::Params(leaves) => Some(leaves.clone()),
        RtVal::Tensor(t) => Some(vec![t.clone()]),
        RtVal::Host(c) => Some(vec![from_floats(vec![*c as f32], &[1], device)]),
        RtVal::Numbers(own) => Some(vec![own.tensor(device)]),
        _ => None,
    }
}

/// `[K, 1, …]`, which broadcasts along the client axis of `like`.
fn mask(live: &[bool], like: &DispatchTensor, device: &DispatchDevice) -> DispatchTensor {
    let mut shape = vec![1; like.shape().num_dims()];
    shape[0] = live.len();
    let values: Vec<f64> = live.iter().map(|&l| f64::from(u8::from(l))).collect();
    let ty = TensorType::new(DType::Bool, shape);
    let values = values.into();
    constant(&Constant { ty, values }, device)
}

fn lift(t: DispatchTensor) -> Option<DispatchTensor> {
    let mut shape = t.shape().as_slice().to_vec();
    shape.insert(0, 1);
    apply(&Op::Reshape(shape), vec![t])
}

/// The `k`-th entry along the first axis.
pub(crate) fn lane(t: &DispatchTensor, k: usize) -> Option<DispatchTensor> {
    let shape = t.shape().as_slice().to_vec();
    let mut ranges: Vec<(usize, usize)> = shape.iter().map(|&n| (0, n)).collect();
    ranges[0] = (k, k + 1);
    let own = apply(&Op::Slice(ranges), vec![t.clone()])?;
    apply(&Op::Reshape(shape[1..].to_vec()), vec![own])
}

/// Flattens a loss of each client to `[K]`.
pub(crate) fn flat(t: DispatchTensor) -> Option<DispatchTensor> {
    let n = Shape::num_elements(&t.shape());
    apply(&Op::Reshape(vec![n]), vec![t])
}

pub(crate) fn apply(op: &Op, operands: Vec<DispatchTensor>) -> Option<DispatchTensor> {
    // Read by ops that make tensors out of nothing alone: none of those above.
    let device = DispatchDevice::Flex(Default::default());
    let mut operands = operands.into_iter();
    fedround_exec::ops::apply(op, &device, || operands.next()).map(|(t, _)| t)
}
