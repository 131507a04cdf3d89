//! Stacks the values of several clients along a new first axis, the client axis, and splits them again.

use std::sync::Arc;

use burn::tensor::{DispatchTensor, Shape};
use burn_backend::TensorMetadata;
use burn_dispatch::DispatchDevice;
use fedround_exec::tensor::{constant, from_floats};
use fedround_ir::tensor::{Constant, DType, Op, TensorType};

use crate::value::{ClientNumbers, RuntimeValue};

/// Stacks the values of clients, in order, along a new first axis. `None` if they are not tensors or numbers.
pub(crate) fn stack(values: &[RuntimeValue], device: &DispatchDevice) -> Option<RuntimeValue> {
    let first = values.first()?;
    let numbers = values.iter().map(|value| match value {
        RuntimeValue::Number(c) => Some(*c as f32),
        _ => None,
    });
    if let Some(numbers) = numbers.collect::<Option<Vec<f32>>>() {
        return Some(RuntimeValue::stacked(RuntimeValue::Numbers(Arc::new(
            ClientNumbers::new(numbers),
        ))));
    }
    let first = leaves(first, device)?;
    let mut columns: Vec<Vec<DispatchTensor>> = vec![vec![]; first.len()];
    for value in values {
        for (column, leaf) in columns.iter_mut().zip(leaves(value, device)?) {
            column.push(add_client_axis(leaf)?);
        }
    }
    let mut joined = columns
        .into_iter()
        .map(|column| apply(&Op::Cat(0), column))
        .collect::<Option<Vec<_>>>()?;
    Some(RuntimeValue::stacked(match values.first()? {
        RuntimeValue::Params(_) => RuntimeValue::Params(joined),
        _ => RuntimeValue::Tensor(joined.pop()?),
    }))
}

/// The values of a group's clients as one value. That of a single client has no client axis.
pub(crate) fn stack_group(
    mut values: Vec<RuntimeValue>,
    device: &DispatchDevice,
) -> Option<RuntimeValue> {
    match values.len() {
        1 => values.pop(),
        _ => stack(&values, device),
    }
}

/// The `k`-th client's part of a value. A value without a client axis is the same for all clients.
pub(crate) fn unstack(value: &RuntimeValue, k: usize) -> Option<RuntimeValue> {
    part_of_client(value, k, &|t| client_slice(t, k))
}

/// As [`unstack`], in memory of its own: on a GPU, a slice may be a view, which keeps the values of all clients in
/// memory. `index` is `k` on the device.
pub(crate) fn unstack_copy(
    value: &RuntimeValue,
    k: usize,
    index: &DispatchTensor,
) -> Option<RuntimeValue> {
    part_of_client(value, k, &|t| {
        let own = apply(&Op::Select(0), vec![t.clone(), index.clone()])?;
        apply(&Op::Reshape(t.shape().as_slice()[1..].to_vec()), vec![own])
    })
}

/// The `k`-th client's part of a value, of whose tensors `own` takes the client's entry.
fn part_of_client(
    value: &RuntimeValue,
    k: usize,
    own: &dyn Fn(&DispatchTensor) -> Option<DispatchTensor>,
) -> Option<RuntimeValue> {
    let RuntimeValue::Stacked(value) = value else {
        return Some(value.clone());
    };
    match value.as_ref() {
        RuntimeValue::Params(leaves) => {
            let own = leaves.iter().map(own);
            own.collect::<Option<_>>().map(RuntimeValue::Params)
        }
        RuntimeValue::Tensor(t) => own(t).map(RuntimeValue::Tensor),
        RuntimeValue::Numbers(numbers) => numbers.of(k).map(RuntimeValue::Number),
        _ => None,
    }
}

/// The `new` values of the active clients, and the `old` values of the others, which sit out the step.
pub(crate) fn select_active(
    active: &[bool],
    new: &RuntimeValue,
    old: &RuntimeValue,
    device: &DispatchDevice,
) -> Option<RuntimeValue> {
    let mut chosen = vec![];
    for (new, old) in with_client_axis(new, device)?
        .into_iter()
        .zip(with_client_axis(old, device)?)
    {
        chosen.push(apply(
            &Op::Where,
            vec![mask(active, &new, device), new, old],
        )?);
    }
    Some(RuntimeValue::stacked(match new.inner() {
        RuntimeValue::Params(_) => RuntimeValue::Params(chosen),
        _ => RuntimeValue::Tensor(chosen.pop()?),
    }))
}

/// As [`select_active`], for several values.
pub(crate) fn select_active_all(
    active: &[bool],
    new: &[RuntimeValue],
    old: &[RuntimeValue],
    device: &DispatchDevice,
) -> Option<Vec<RuntimeValue>> {
    let pairs = new.iter().zip(old);
    let chosen = pairs.map(|(new, old)| select_active(active, new, old, device));
    chosen.collect()
}

/// The leaves of a value with a client axis. The axis has size 1 if all clients share the value.
fn with_client_axis(value: &RuntimeValue, device: &DispatchDevice) -> Option<Vec<DispatchTensor>> {
    match value {
        RuntimeValue::Stacked(value) => leaves(value, device),
        shared => leaves(shared, device)?
            .into_iter()
            .map(add_client_axis)
            .collect(),
    }
}

/// The tensors of a value; `None` if it has none.
pub(crate) fn leaves(value: &RuntimeValue, device: &DispatchDevice) -> Option<Vec<DispatchTensor>> {
    match value {
        RuntimeValue::Params(leaves) => Some(leaves.clone()),
        RuntimeValue::Tensor(t) => Some(vec![t.clone()]),
        RuntimeValue::Number(c) => Some(vec![from_floats(vec![*c as f32], &[1], device)]),
        RuntimeValue::Numbers(own) => Some(vec![own.tensor(device)]),
        _ => None,
    }
}

/// A mask of the active clients, of shape `[K, 1, …]` with as many axes as `like`.
fn mask(active: &[bool], like: &DispatchTensor, device: &DispatchDevice) -> DispatchTensor {
    let mut shape = vec![1; like.shape().num_dims()];
    shape[0] = active.len();
    let values: Vec<f64> = active.iter().map(|&l| f64::from(u8::from(l))).collect();
    let ty = TensorType::new(DType::Bool, shape);
    let values = values.into();
    constant(&Constant { ty, values }, device)
}

/// Adds a client axis of size 1.
fn add_client_axis(t: DispatchTensor) -> Option<DispatchTensor> {
    let mut shape = t.shape().as_slice().to_vec();
    shape.insert(0, 1);
    apply(&Op::Reshape(shape), vec![t])
}

/// The `k`-th entry along the first axis.
pub(crate) fn client_slice(t: &DispatchTensor, k: usize) -> Option<DispatchTensor> {
    let shape = t.shape().as_slice().to_vec();
    let mut ranges: Vec<(usize, usize)> = shape.iter().map(|&n| (0, n)).collect();
    ranges[0] = (k, k + 1);
    let own = apply(&Op::Slice(ranges), vec![t.clone()])?;
    apply(&Op::Reshape(shape[1..].to_vec()), vec![own])
}

/// Flattens the losses of K clients to shape `[K]`.
pub(crate) fn flatten(t: DispatchTensor) -> Option<DispatchTensor> {
    let n = Shape::num_elements(&t.shape());
    apply(&Op::Reshape(vec![n]), vec![t])
}

/// Applies a tensor operation to tensors; `None` if it does not apply to them.
pub(crate) fn apply(op: &Op, operands: Vec<DispatchTensor>) -> Option<DispatchTensor> {
    // Only operations without tensor operands use the device. None is applied here.
    let device = DispatchDevice::Flex(Default::default());
    let mut operands = operands.into_iter();
    fedround_exec::ops::apply(op, &device, || operands.next()).map(|(t, _)| t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fedround_exec::tensor::{filled_index, from_ints, read, read_ints};

    /// In a build with a GPU feature, the default device is a GPU.
    #[test]
    fn a_copy_of_a_clients_part_is_the_part() {
        let device = DispatchDevice::default();
        let numbers = (0..24).map(|i| i as f32).collect();
        let all = from_floats(numbers, &[3, 2, 4], &device);
        let params = vec![
            all.clone(),
            from_floats(vec![7.0, 8.0, 9.0], &[3, 1], &device),
        ];
        let params = RuntimeValue::stacked(RuntimeValue::Params(params));
        let labels = from_ints((0..6).collect(), &[3, 2], &device);
        let labels = RuntimeValue::stacked(RuntimeValue::Tensor(labels));
        let own = |value: Option<RuntimeValue>| value.unwrap().tensors().to_vec();
        let index = |k: usize| filled_index(k, &device);
        for k in 0..3 {
            let copies = own(unstack_copy(&params, k, &index(k)));
            for (copy, part) in copies.into_iter().zip(own(unstack(&params, k))) {
                assert_eq!(copy.shape(), part.shape());
                assert_eq!(read(copy).unwrap(), read(part).unwrap());
            }
            let mut copy = own(unstack_copy(&labels, k, &index(k)));
            let first = 2 * k as i32;
            assert_eq!(read_ints(copy.remove(0)).unwrap(), [first, first + 1]);
        }
        let shared = RuntimeValue::Tensor(all);
        let shared = own(unstack_copy(&shared, 1, &index(1))).remove(0);
        assert_eq!(shared.shape().as_slice(), [3, 2, 4]);
    }
}
