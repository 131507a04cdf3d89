//! Operations on rows, which are values with one row for each example: loops over mini-batches of rows, random
//! samples, and selections by a key.

use fedround_exec::tensor::{from_floats, from_ints, read};
use std::collections::BTreeSet;

use burn::tensor::DispatchTensor;
use burn_backend::TensorMetadata;
use burn_dispatch::DispatchDevice;
use fedround_ir::fed::Op;
use fedround_ir::tensor::Op as TensorOp;
use fedround_passes::schedule::{Block, Control};
use fedround_random::{Purpose, permutation};

use crate::context::{RoundContext, missing};
use crate::error::RunError;
use crate::interpreter::loops::{initial_values, yielded_values};
use crate::interpreter::{Interpreter, run_block};
use crate::value::batching::apply;
use crate::value::{Env, RuntimeValue};

/// `opt.for_rows`: epochs of mini-batches of rows, on the server or on a single client.
pub(crate) fn for_rows(
    interpreter: &mut impl Interpreter,
    cx: RoundContext<'_>,
    (control, n): (&Control, usize),
    body: &Block,
    env: &mut Env,
) -> Result<(), RunError> {
    let op = &control.op;
    let (epochs, size) = (cx.count(op, 0)?, cx.count(op, 1)?);
    let rows = operand_tensors(op, 2..2 + n, env)?;
    let total = row_count(op, &rows)?;
    let mut values = initial_values(cx, control, 2 + n, env)?;
    let steps = epochs * total.div_ceil(size.max(1));
    cx.count_plain_steps(control, body, steps);
    for epoch in 0..epochs {
        let order = draw_order(interpreter, cx, total, epoch)?;
        for chosen in order.chunks(size.max(1)) {
            for (arg, rows) in body.args.iter().zip(&rows) {
                env.set(*arg, select_rows(op, rows, chosen, cx.program.device())?);
            }
            env.set_all(body.args.get(n..).unwrap_or_default(), values);
            run_block(interpreter, cx, body, env)?;
            values = yielded_values(cx, body, op, env)?;
        }
    }
    env.set_all(&op.results, values);
    Ok(())
}

/// `opt.sample_rows`: the first rows of a random order.
pub(crate) fn sample_rows(
    interpreter: &mut impl Interpreter,
    cx: RoundContext<'_>,
    op: &Op,
    env: &mut Env,
) -> Result<(), RunError> {
    let rows = operand_tensors(op, 1..op.operands.len(), env)?;
    let total = row_count(op, &rows)?;
    // Rounded up, but not because of a rounding error: 0.07 · 100 is larger than 7 in floating point.
    let share = |share: f64| (share * total as f64 - 1e-9).ceil() as usize;
    let size = op.operands[0];
    let n = cx.program.index(size);
    let n = n.or_else(|| cx.program.real(size).map(share));
    let n = n.ok_or_else(|| missing(op, "size known before the round"))?;
    let order = draw_order(interpreter, cx, total, 0)?;
    let chosen = &order[..n.clamp(1, total)];
    for (result, rows) in op.results.iter().zip(&rows) {
        env.set(*result, select_rows(op, rows, chosen, cx.program.device())?);
    }
    Ok(())
}

/// `opt.smallest_rows`: the rows with the smallest keys.
pub(crate) fn smallest_rows(cx: RoundContext<'_>, op: &Op, env: &mut Env) -> Result<(), RunError> {
    let rows = operand_tensors(op, 1..op.operands.len(), env)?;
    let total = row_count(op, &rows)?;
    let n = cx.program.index(op.operands[0]);
    let n = n.ok_or_else(|| missing(op, "size known before the round"))?;
    let Some((key, rows)) = rows.split_first() else {
        return Err(missing(op, "key"));
    };
    let key = read(key.clone())?;
    if key.len() != total {
        return Err(missing(op, "key of one number a row"));
    }
    let mut order: Vec<usize> = (0..total).collect();
    // A stable sort, so that of equal keys the earlier row comes first.
    order.sort_by(|a, b| key[*a].total_cmp(&key[*b]));
    order.truncate(n.max(1));
    for (result, rows) in op.results.iter().zip(rows) {
        env.set(*result, select_rows(op, rows, &order, cx.program.device())?);
    }
    Ok(())
}

/// Concatenates tensors along their rows.
pub(crate) fn concat_rows(op: &Op, rows: Vec<DispatchTensor>) -> Result<RuntimeValue, RunError> {
    if rows.is_empty() {
        let (why, loc) = ("there are no rows", op.loc);
        return Err(RunError::Empty { why, loc });
    }
    let joined = apply(&TensorOp::Cat(0), rows).map(RuntimeValue::Tensor);
    joined.ok_or_else(|| missing(op, "features or labels"))
}

/// The classes of a client's examples, each once, ascending.
pub(crate) fn local_classes(cx: RoundContext<'_>, client: usize) -> Result<RuntimeValue, RunError> {
    let indices = cx.examples_of(client)?;
    let labels = cx.dataset.examples.labels();
    let classes: BTreeSet<u16> = indices.iter().map(|&i| labels[i]).collect();
    let classes: Vec<i32> = classes.into_iter().map(i32::from).collect();
    let shape = [classes.len()];
    Ok(RuntimeValue::Tensor(from_ints(
        classes,
        &shape,
        cx.program.device(),
    )))
}

/// How many examples a client has of each class: `[classes]`.
///
/// # Errors
///
/// A label is not one of the model's classes.
pub(crate) fn label_counts(cx: RoundContext<'_>, client: usize) -> Result<RuntimeValue, RunError> {
    let classes = cx.program.model().task().classes;
    let mut counts = vec![0.0f32; classes];
    let labels = cx.dataset.examples.labels();
    for &i in &cx.dataset.client_indices[client] {
        let label = labels[i];
        let count = counts.get_mut(usize::from(label));
        *count.ok_or_else(|| RunError::Label {
            label: label.into(),
            classes,
        })? += 1.0;
    }
    Ok(RuntimeValue::Tensor(from_floats(
        counts,
        &[classes],
        cx.program.device(),
    )))
}

/// Every class once, in order.
pub(crate) fn every_class(cx: RoundContext<'_>) -> RuntimeValue {
    let classes = cx.program.model().task().classes;
    let all = (0..classes as i32).collect();
    RuntimeValue::Tensor(from_ints(all, &[classes], cx.program.device()))
}

/// The tensors of some operands.
fn operand_tensors(
    op: &Op,
    operands: std::ops::Range<usize>,
    env: &Env,
) -> Result<Vec<DispatchTensor>, RunError> {
    let values = op.operands.get(operands).unwrap_or_default().iter();
    let tensors = values.map(|v| match env.peek(*v) {
        Some(RuntimeValue::Tensor(t)) => Ok(t.clone()),
        _ => Err(missing(op, "rows of one client")),
    });
    tensors.collect()
}

/// The number of rows, which all values have in common.
fn row_count(op: &Op, rows: &[DispatchTensor]) -> Result<usize, RunError> {
    let rows = rows.iter().map(|t| t.shape().as_slice().to_vec());
    let rows: Vec<Vec<usize>> = rows.collect();
    let count = |shape: &Vec<usize>| shape.first().copied().unwrap_or_default();
    let first = rows.first().map(count).unwrap_or_default();
    if let Some(other) = rows.iter().find(|shape| count(shape) != first) {
        return Err(RunError::ZippedRows {
            expected: first,
            found: count(other),
            loc: op.loc,
        });
    }
    if first == 0 {
        let (why, loc) = ("there are no rows", op.loc);
        return Err(RunError::Empty { why, loc });
    }
    Ok(first)
}

/// A random order of rows, a new one for each call.
fn draw_order(
    interpreter: &mut impl Interpreter,
    cx: RoundContext<'_>,
    total: usize,
    epoch: usize,
) -> Result<Vec<usize>, RunError> {
    let key = interpreter.draw_keys(Purpose::Rows).into_iter().next();
    let key = key.unwrap_or(cx.key(Purpose::Rows));
    Ok(permutation(total, key.with(epoch)))
}

/// Some rows of a tensor.
fn select_rows(
    op: &Op,
    t: &DispatchTensor,
    rows: &[usize],
    device: &DispatchDevice,
) -> Result<RuntimeValue, RunError> {
    let index = rows.iter().map(|&i| i as i32).collect();
    let index = from_ints(index, &[rows.len()], device);
    let taken = apply(&TensorOp::Select(0), vec![t.clone(), index]);
    taken
        .map(RuntimeValue::Tensor)
        .ok_or_else(|| missing(op, "features or labels"))
}
