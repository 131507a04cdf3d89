//! Ops that move, select and sum elements.

use fedround_ir::tensor::{Op, TypeError, Val};

use super::{Parts, Rule};

pub(super) fn apply(r: &mut Rule<'_>) -> Parts {
    let (g, ins) = (r.g, r.node.ins.clone());
    let a = ins[0];
    match r.node.op.clone() {
        Op::Reshape(_) => {
            let shape = r.shape(a);
            one(r.reshape(g, shape))
        }
        Op::Permute(axes) => {
            let mut inverse = vec![0; axes.len()];
            for (to, &from) in axes.iter().enumerate() {
                inverse[from] = to;
            }
            one(r.op(Op::Permute(inverse), &[g]))
        }
        Op::Flip(axes) => one(r.op(Op::Flip(axes), &[g])),
        Op::Expand(_) => one(r.sum_to(g, a)),
        Op::Slice(ranges) => {
            let zeros = r.zeros(a)?;
            one(r.op(Op::SliceAssign(ranges), &[zeros, g]))
        }
        Op::SliceAssign(ranges) => r.each(|r, i| {
            if i == 1 {
                return r.op(Op::Slice(ranges.clone()), &[g]);
            }
            let zeros = r.zeros(ins[1])?;
            r.op(Op::SliceAssign(ranges.clone()), &[g, zeros])
        }),
        Op::Cat(d) => {
            let starts: Vec<usize> = ins
                .iter()
                .scan(0, |start, &v| {
                    *start += r.graph.shape(v)[d];
                    Some(*start - r.graph.shape(v)[d])
                })
                .collect();
            r.each(|r, i| {
                let shape = r.shape(ins[i]);
                let mut ranges: Vec<(usize, usize)> = shape.iter().map(|&n| (0, n)).collect();
                ranges[d] = (starts[i], starts[i] + shape[d]);
                r.op(Op::Slice(ranges), &[g])
            })
        }
        Op::Sum => one(spread(r, g, a)),
        Op::Mean => {
            let n = r.graph.type_of(a).len() as f64;
            let scaled = r.op(Op::MulScalar(1.0 / n), &[g])?;
            one(spread(r, scaled, a))
        }
        Op::SumDim(_) => {
            let shape = r.shape(a);
            one(r.op(Op::Expand(shape), &[g]))
        }
        Op::MeanDim(d) => {
            let shape = r.shape(a);
            let scaled = r.op(Op::MulScalar(1.0 / shape[d] as f64), &[g])?;
            one(r.op(Op::Expand(shape), &[scaled]))
        }
        Op::MaxDim(d) => {
            let (zeros, at) = (r.zeros(a)?, r.node.outs[1]);
            one(r.op(Op::ScatterAdd(d), &[zeros, at, g]))
        }
        Op::CumSum { dim, reverse } => {
            let reverse = !reverse;
            one(r.op(Op::CumSum { dim, reverse }, &[g]))
        }
        Op::Gather(d) => {
            let zeros = r.zeros(a)?;
            let da = r.op(Op::ScatterAdd(d), &[zeros, ins[1], g])?;
            Ok(vec![Some(da), None])
        }
        Op::Select(d) => {
            let zeros = r.zeros(a)?;
            let da = r.op(Op::SelectAdd(d), &[zeros, ins[1], g])?;
            Ok(vec![Some(da), None])
        }
        Op::ScatterAdd(d) => added(r, Op::Gather(d), ins[1]),
        Op::SelectAdd(d) => added(r, Op::Select(d), ins[1]),
        _ => Ok(vec![None; ins.len()]),
    }
}

fn one(part: Result<Val, TypeError>) -> Parts {
    Ok(vec![Some(part?)])
}

/// Gradients of `(a, i, v) -> a` with `v` added at `i`, which `read` reads.
fn added(r: &mut Rule<'_>, read: Op, at: Val) -> Parts {
    let g = r.g;
    let dv = r.wants(2).then(|| r.op(read, &[g, at])).transpose()?;
    Ok(vec![r.wants(0).then_some(g), None, dv])
}

/// Repeats the one element of `g` in the shape of `like`.
fn spread(r: &mut Rule<'_>, g: Val, like: Val) -> Result<Val, TypeError> {
    let shape = r.shape(like);
    let g = r.reshape(g, vec![1; shape.len()])?;
    r.op(Op::Expand(shape), &[g])
}
