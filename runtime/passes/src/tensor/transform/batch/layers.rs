//! Matrix products, convolutions and pools: clients become further rows or images of one op where
//! they share its weights, and channel groups where each has its own.

use fedround_ir::tensor::{Conv2d, Op, TypeError, Val};

use super::{Batch, Results, Value};

pub(super) fn batch(b: &mut Batch, op: &Op, ins: &[Value]) -> Results {
    let one = |v: Result<Val, TypeError>| Ok(vec![v?]);
    match op {
        Op::MatMul => one(matmul(b, ins[0], ins[1])),
        Op::Conv2d(o) => one(conv2d(b, o, ins)),
        Op::Conv2dInputGrad(o, shape) => one(input_grad(b, o, shape, ins[0], ins[1])),
        Op::Conv2dWeightGrad(o, shape) => {
            let (x, g) = (b.full_one(ins[0])?, b.full_one(ins[1])?);
            let (x, g) = (channels(b, x)?, channels(b, g)?);
            let to = [&[b.clients], shape.as_slice()].concat();
            let op = Op::Conv2dWeightGrad(grouped(b, o), merged(&to));
            let w = b.push(op, &[x, g])?;
            one(b.reshape(w, to))
        }
        // Pools look at one plane at a time: as channels, which is how convolutions of clients with
        // weights of their own give and take them.
        _ => {
            let mut planes = Vec::with_capacity(ins.len());
            for v in ins {
                let full = b.full_one(*v)?;
                planes.push(channels(b, full)?);
            }
            let outs = b.op(op.clone(), &planes)?;
            outs.into_iter().map(|y| split_channels(b, y)).collect()
        }
    }
}

fn matmul(b: &mut Batch, x: Value, w: Value) -> Result<Val, TypeError> {
    let (from, weights) = (b.shape(x), b.shape(w));
    if x.each && !w.each && from.len() == 2 {
        let product = rows(b, x.new)?;
        let product = b.push(Op::MatMul, &[product, w.new])?;
        return b.reshape(product, vec![b.clients, from[0], weights[1]]);
    }
    let (x, w) = (b.lift(x)?, b.lift(w)?);
    b.push(Op::MatMul, &[x, w])
}

fn conv2d(b: &mut Batch, o: &Conv2d, ins: &[Value]) -> Result<Val, TypeError> {
    let (x, w, bias) = (ins[0], ins[1], ins.get(2).copied());
    let own_bias = bias.is_some_and(|v| v.each);
    if !w.each && !own_bias {
        let mut operands = vec![rows(b, x.new)?, w.new];
        operands.extend(bias.map(|v| v.new));
        let y = b.push(Op::Conv2d(*o), &operands)?;
        return split_rows(b, y);
    }
    let full = b.full_one(w)?;
    let weight = rows(b, full)?;
    // One image for all clients: the filters of all see the same channels.
    let (x, options) = if x.each || o.groups != 1 {
        let full = b.full_one(x)?;
        (channels(b, full)?, grouped(b, o))
    } else {
        (x.new, *o)
    };
    let mut operands = vec![x, weight];
    if let Some(bias) = bias {
        let full = b.full_one(bias)?;
        operands.push(rows(b, full)?);
    }
    let y = b.push(Op::Conv2d(options), &operands)?;
    split_channels(b, y)
}

fn input_grad(
    b: &mut Batch,
    o: &Conv2d,
    shape: &[usize],
    w: Value,
    g: Value,
) -> Result<Val, TypeError> {
    let mut to = shape.to_vec();
    if !w.each {
        to[0] *= b.clients;
        let g = rows(b, g.new)?;
        let x = b.push(Op::Conv2dInputGrad(*o, to), &[w.new, g])?;
        return split_rows(b, x);
    }
    to[1] *= b.clients;
    let g = b.full_one(g)?;
    let (w, g) = (rows(b, w.new)?, channels(b, g)?);
    let x = b.push(Op::Conv2dInputGrad(grouped(b, o), to), &[w, g])?;
    split_channels(b, x)
}

fn grouped(b: &Batch, o: &Conv2d) -> Conv2d {
    Conv2d {
        groups: o.groups * b.clients,
        ..*o
    }
}

/// `[K, n, …]` as `[K · n, …]`.
fn merged(shape: &[usize]) -> Vec<usize> {
    let mut to = shape[1..].to_vec();
    to[0] *= shape[0];
    to
}

fn rows(b: &mut Batch, v: Val) -> Result<Val, TypeError> {
    let to = merged(b.new.shape(v));
    b.reshape(v, to)
}

/// `[K · n, …]` as `[K, n, …]`.
fn split_rows(b: &mut Batch, v: Val) -> Result<Val, TypeError> {
    let mut to = b.new.shape(v).to_vec();
    to[0] /= b.clients;
    to.insert(0, b.clients);
    b.reshape(v, to)
}

/// `[K, n, c, h, w]` as `[n, K · c, h, w]`.
fn channels(b: &mut Batch, v: Val) -> Result<Val, TypeError> {
    let v = b.push(Op::Permute(vec![1, 0, 2, 3, 4]), &[v])?;
    let shape = b.new.shape(v);
    let to = vec![shape[0], shape[1] * shape[2], shape[3], shape[4]];
    b.reshape(v, to)
}

/// `[n, K · c, h, w]` as `[K, n, c, h, w]`.
fn split_channels(b: &mut Batch, v: Val) -> Result<Val, TypeError> {
    let shape = b.new.shape(v);
    let to = vec![
        shape[0],
        b.clients,
        shape[1] / b.clients,
        shape[2],
        shape[3],
    ];
    let v = b.reshape(v, to)?;
    b.push(Op::Permute(vec![1, 0, 2, 3, 4]), &[v])
}
