//! Windows as columns of a matrix, and products of matrices.
//!
//! With `K = kh · kw` and `G` groups, the columns of `x` are `[G, c/G · K, n · oh · ow]`: one row
//! for each weight of a filter, one column for each window of each image. They are the same in the
//! forward pass and in the gradient of the weight, which share them (`cse`). Columns are gathered by
//! constant indices, the last of which is that of a zero where windows reach over the edge.

use fedround_ir::tensor::{Constant, DType, Node, Op, TensorType, TypeError, Val};

use super::{Build, Sizes};

/// Indices are `i32`, and their table is built on the host.
const MOST: usize = 1 << 24;

/// `None` where the table of indices would be too large.
pub(super) fn lower(b: &mut Build, node: &Node) -> Result<Option<Val>, TypeError> {
    let Some(s) = Sizes::of(b.new, node) else {
        return Ok(None);
    };
    let area = |shape: &[usize; 4]| shape[0] * shape[2] * shape[3];
    let table = s.w[2] * s.w[3] * area(&s.y).max(area(&s.x));
    if table > MOST {
        return Ok(None);
    }
    Ok(Some(match node.op {
        Op::Conv2d(_) => forward(b, &s, node)?,
        Op::Conv2dInputGrad(..) => input_grad(b, &s, node.ins[0], node.ins[1])?,
        _ => weight_grad(b, &s, node.ins[0], node.ins[1])?,
    }))
}

fn forward(b: &mut Build, s: &Sizes, node: &Node) -> Result<Val, TypeError> {
    let groups = s.options.groups;
    let rows = s.w[1] * s.w[2] * s.w[3];
    let columns = columns(b, s, node.ins[0])?;
    let w = b.reshape(node.ins[1], [groups, s.w[0] / groups, rows])?;
    let y = b.push(Op::MatMul, &[w, columns])?;
    let y = images(b, y, &s.y, groups)?;
    match node.ins.get(2) {
        Some(bias) => {
            let bias = b.reshape(*bias, [1, s.w[0], 1, 1])?;
            b.push(Op::Add, &[y, bias])
        }
        None => Ok(y),
    }
}

fn weight_grad(b: &mut Build, s: &Sizes, x: Val, g: Val) -> Result<Val, TypeError> {
    let columns = columns(b, s, x)?;
    let columns = b.permute(columns, [0, 2, 1])?;
    let g = planes(b, g, &s.y)?;
    let groups = s.options.groups;
    let g = b.reshape(g, [groups, s.w[0] / groups, s.y[0] * s.y[2] * s.y[3]])?;
    let w = b.push(Op::MatMul, &[g, columns])?;
    b.reshape(w, s.w)
}

/// The gradient of a pixel is a sum over the windows that it is in: again a product with columns,
/// those of the result's gradient.
fn input_grad(b: &mut Build, s: &Sizes, w: Val, g: Val) -> Result<Val, TypeError> {
    let groups = s.options.groups;
    let (filters, kernel) = (s.w[0] / groups, s.w[2] * s.w[3]);
    let g = planes(b, g, &s.y)?;
    let side = |i: usize, k: usize, at: usize| {
        let from = (at + s.options.padding[i]).checked_sub(k * s.options.dilation[i])?;
        let window = from / s.options.stride[i];
        (from % s.options.stride[i] == 0 && window < s.y[i + 2]).then_some(window)
    };
    let columns = gather(b, s, (g, &s.y), &s.x, side)?;
    let columns = b.reshape(
        columns,
        [groups, filters * kernel, s.x[0] * s.x[2] * s.x[3]],
    )?;
    let w = b.reshape(w, [groups, filters, s.w[1], kernel])?;
    let w = b.permute(w, [0, 2, 1, 3])?;
    let w = b.reshape(w, [groups, s.w[1], filters * kernel])?;
    let x = b.push(Op::MatMul, &[w, columns])?;
    images(b, x, &s.x, groups)
}

/// The columns of `x`.
fn columns(b: &mut Build, s: &Sizes, x: Val) -> Result<Val, TypeError> {
    let x = planes(b, x, &s.x)?;
    let side = |i: usize, k: usize, window: usize| {
        let at = window * s.options.stride[i] + k * s.options.dilation[i];
        at.checked_sub(s.options.padding[i])
            .filter(|at| *at < s.x[i + 2])
    };
    let columns = gather(b, s, (x, &s.x), &s.y, side)?;
    let rows = s.w[1] * s.w[2] * s.w[3];
    b.reshape(columns, [s.options.groups, rows, s.y[0] * s.y[2] * s.y[3]])
}

/// `[n, c, h, w]` as `[c, n · h · w]`.
fn planes(b: &mut Build, v: Val, shape: &[usize; 4]) -> Result<Val, TypeError> {
    let v = b.permute(v, [1, 0, 2, 3])?;
    b.reshape(v, [shape[1], shape[0] * shape[2] * shape[3]])
}

/// `[G, c / G, n · h · w]` as `[n, c, h, w]`.
fn images(b: &mut Build, v: Val, shape: &[usize; 4], groups: usize) -> Result<Val, TypeError> {
    let [n, c, h, w] = *shape;
    let v = b.reshape(v, [groups, c / groups, n, h * w])?;
    let v = b.permute(v, [2, 0, 1, 3])?;
    b.reshape(v, [n, c, h, w])
}

/// `[c, n · h · w]` as `[c, K · n · h' · w']`: for each place in a filter and each pixel of the images
/// `to`, the pixel of `from` that `side` gives for both axes, or 0.
fn gather(
    b: &mut Build,
    s: &Sizes,
    (v, from): (Val, &[usize; 4]),
    to: &[usize; 4],
    side: impl Fn(usize, usize, usize) -> Option<usize>,
) -> Result<Val, TypeError> {
    let zero = from[0] * from[2] * from[3];
    let mut table = Vec::with_capacity(s.w[2] * s.w[3] * to[0] * to[2] * to[3]);
    for ky in 0..s.w[2] {
        for kx in 0..s.w[3] {
            for image in 0..to[0] {
                for y in 0..to[2] {
                    let row = side(0, ky, y).map(|row| (image * from[2] + row) * from[3]);
                    table.extend((0..to[3]).map(|x| {
                        let at = row.and_then(|row| Some(row + side(1, kx, x)?));
                        at.unwrap_or(zero) as f64
                    }));
                }
            }
        }
    }
    let v = if table.contains(&(zero as f64)) {
        let zeros = b.push(Op::Full(0.0, vec![from[1], zero + 1]), &[])?;
        b.push(Op::SliceAssign(vec![(0, from[1]), (0, zero)]), &[zeros, v])?
    } else {
        v
    };
    let table = Constant {
        ty: TensorType::new(DType::I32, [table.len()]),
        values: table.into(),
    };
    let table = b.push(Op::Constant(table), &[])?;
    b.push(Op::Select(1), &[v, table])
}
