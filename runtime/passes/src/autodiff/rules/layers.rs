//! Matrix products, convolutions, pools and the softmax.

use fedround_ir::tensor::{Op, TypeError, Val};

use super::{Parts, Rule};

pub(super) fn apply(r: &mut Rule<'_>) -> Parts {
    let (g, y, ins) = (r.g, r.node.outs[0], r.node.ins.clone());
    let a = ins[0];
    match r.node.op.clone() {
        Op::MatMul => r.each(|r, i| {
            let product = if i == 0 {
                let bt = r.transpose(ins[1])?;
                r.op(Op::MatMul, &[g, bt])?
            } else {
                let at = r.transpose(a)?;
                r.op(Op::MatMul, &[at, g])?
            };
            r.sum_to(product, ins[i])
        }),
        // g − softmax · Σ g
        Op::LogSoftmax(d) => {
            let total = r.op(Op::SumDim(d), &[g])?;
            let softmax = r.op(Op::Exp, &[y])?;
            let product = r.op(Op::Mul, &[softmax, total])?;
            Ok(vec![Some(r.op(Op::Sub, &[g, product])?)])
        }
        // A convolution and its two gradients are the same sum of x · w · g, seen from its three
        // sides: each is the gradient of the others.
        Op::Conv2d(options) => r.each(|r, i| {
            let shape = r.shape(ins[i]);
            match i {
                0 => r.op(Op::Conv2dInputGrad(options, shape), &[ins[1], g]),
                1 => r.op(Op::Conv2dWeightGrad(options, shape), &[a, g]),
                _ => channel_sum(r, g),
            }
        }),
        // (w, y) -> x
        Op::Conv2dInputGrad(options, _) => r.each(|r, i| {
            let shape = r.shape(ins[i]);
            match i {
                0 => r.op(Op::Conv2dWeightGrad(options, shape), &[g, ins[1]]),
                _ => r.op(Op::Conv2d(options), &[g, a]),
            }
        }),
        // (x, y) -> w
        Op::Conv2dWeightGrad(options, _) => r.each(|r, i| {
            let shape = r.shape(ins[i]);
            match i {
                0 => r.op(Op::Conv2dInputGrad(options, shape), &[g, ins[1]]),
                _ => r.op(Op::Conv2d(options), &[a, g]),
            }
        }),
        Op::MaxPool2d(options) => {
            let at = r.node.outs[1];
            Ok(vec![Some(r.op(Op::MaxPool2dGrad(options), &[a, g, at])?)])
        }
        // Linear in the gradient, which it writes at the places of the maxima: read them there.
        Op::MaxPool2dGrad(_) => {
            let dg = r.wants(1).then(|| at_maxima(r, ins[2])).transpose()?;
            Ok(vec![None, dg, None])
        }
        Op::AvgPool2d(options) => Ok(vec![Some(r.op(Op::AvgPool2dGrad(options), &[a, g])?)]),
        Op::AvgPool2dGrad(options) => {
            let dg = r.wants(1).then(|| r.op(Op::AvgPool2d(options), &[g]));
            Ok(vec![None, dg.transpose()?])
        }
        _ => Ok(vec![None; ins.len()]),
    }
}

/// `g: [n, c, h, w]` at the places `at: [n, c, oh, ow]` of each plane.
fn at_maxima(r: &mut Rule<'_>, at: Val) -> Result<Val, TypeError> {
    let (from, to) = (r.shape(r.g), r.shape(at));
    let planes = r.reshape(r.g, vec![from[0], from[1], from[2] * from[3]])?;
    let at = r.reshape(at, vec![to[0], to[1], to[2] * to[3]])?;
    let found = r.op(Op::Gather(2), &[planes, at])?;
    r.reshape(found, to)
}

/// `[n, c, h, w]` summed to `[c]`, along the contiguous dimensions first.
fn channel_sum(r: &mut Rule<'_>, g: Val) -> Result<Val, TypeError> {
    let shape = r.shape(g);
    let (n, c) = (shape[0], shape[1]);
    let rows = r.reshape(g, vec![n, c, shape[2] * shape[3]])?;
    let planes = r.op(Op::SumDim(2), &[rows])?;
    let sums = r.op(Op::SumDim(0), &[planes])?;
    r.reshape(sums, vec![c])
}
