//! The gradient rule of each op: given the gradient `g` of a node's first result, the gradient of
//! each operand. Written with `y` for the result and `a, b, …` for the operands.

use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, Node, Op, TypeError, Val};

use super::GradError;

/// The gradients of a node's operands, `None` where `wanted` is false.
///
/// # Errors
///
/// The op has no rule for a wanted operand.
pub fn apply(
    graph: &mut Graph,
    node: &Node,
    g: Val,
    wanted: &[bool],
) -> Result<Vec<Option<Val>>, GradError> {
    let mut cx = Rule {
        graph,
        loc: node.loc,
    };
    let y = node.outs[0];
    let want = |i: usize| wanted.get(i).copied().unwrap_or(false);
    let none = || GradError::NoRule {
        op: node.op.name(),
        loc: node.loc,
    };
    let ins = &node.ins;
    let (a, b) = match ins.as_slice() {
        [a, b, ..] => (*a, *b),
        [a] => (*a, *a),
        [] => return Ok(vec![]),
    };
    let one = |v: Val| Ok(vec![Some(v)]);
    match &node.op {
        Op::Add => {
            let da = want(0).then(|| cx.sum_to(g, a)).transpose()?;
            let db = want(1).then(|| cx.sum_to(g, b)).transpose()?;
            Ok(vec![da, db])
        }
        Op::Sub => {
            let da = want(0).then(|| cx.sum_to(g, a)).transpose()?;
            let db = want(1).then(|| cx.sum_to(g, b).and_then(|s| cx.op(Op::Neg, &[s])));
            Ok(vec![da, db.transpose()?])
        }
        Op::Mul => {
            let mut side = |i: usize, other: Val, to: Val| -> Result<Option<Val>, TypeError> {
                if !want(i) {
                    return Ok(None);
                }
                let product = cx.op(Op::Mul, &[g, other])?;
                cx.sum_to(product, to).map(Some)
            };
            Ok(vec![side(0, b, a)?, side(1, a, b)?])
        }
        Op::Div => {
            let q = cx.op(Op::Div, &[g, b])?;
            let da = want(0).then(|| cx.sum_to(q, a)).transpose()?;
            let mut db = None;
            if want(1) {
                // d(a / b)/db = −y / b
                let product = cx.op(Op::Mul, &[q, y])?;
                let sum = cx.sum_to(product, b)?;
                db = Some(cx.op(Op::Neg, &[sum])?);
            }
            Ok(vec![da, db])
        }
        Op::AddScalar(_) => one(g),
        Op::MulScalar(c) => one(cx.op(Op::MulScalar(*c), &[g])?),
        Op::Neg => one(cx.op(Op::Neg, &[g])?),
        Op::Exp => one(cx.op(Op::Mul, &[g, y])?),
        Op::Log => one(cx.op(Op::Div, &[g, a])?),
        Op::Sqrt => {
            let q = cx.op(Op::Div, &[g, y])?;
            one(cx.op(Op::MulScalar(0.5), &[q])?)
        }
        Op::Relu => one(cx.op(Op::ReluGrad, &[y, g])?),
        // Linear in `g`; flat in the mask wherever it is differentiable.
        Op::ReluGrad => {
            let dg = want(1).then(|| cx.op(Op::ReluGrad, &[a, g])).transpose()?;
            Ok(vec![None, dg])
        }
        Op::Reshape(_) => one(cx.reshape(g, cx.shape(a))?),
        Op::Permute(axes) => {
            let mut inverse = vec![0; axes.len()];
            for (to, &from) in axes.iter().enumerate() {
                inverse[from] = to;
            }
            one(cx.op(Op::Permute(inverse), &[g])?)
        }
        Op::Expand(_) => one(cx.sum_to(g, a)?),
        Op::Slice(ranges) => {
            let zeros = cx.zeros(a)?;
            one(cx.op(Op::SliceAssign(ranges.clone()), &[zeros, g])?)
        }
        Op::SliceAssign(ranges) => {
            let mut da = None;
            if want(0) {
                let zeros = cx.zeros(b)?;
                da = Some(cx.op(Op::SliceAssign(ranges.clone()), &[g, zeros])?);
            }
            let db = want(1).then(|| cx.op(Op::Slice(ranges.clone()), &[g]));
            Ok(vec![da, db.transpose()?])
        }
        Op::Cat(d) => {
            let mut start = 0;
            let mut parts = Vec::with_capacity(ins.len());
            for (i, &v) in ins.iter().enumerate() {
                let shape = cx.shape(v);
                let mut ranges: Vec<(usize, usize)> = shape.iter().map(|&n| (0, n)).collect();
                ranges[*d] = (start, start + shape[*d]);
                start += shape[*d];
                let part = want(i).then(|| cx.op(Op::Slice(ranges), &[g]));
                parts.push(part.transpose()?);
            }
            Ok(parts)
        }
        Op::Sum => one(cx.spread(g, a)?),
        Op::Mean => {
            let n = cx.graph.type_of(a).len() as f64;
            let scaled = cx.op(Op::MulScalar(1.0 / n), &[g])?;
            one(cx.spread(scaled, a)?)
        }
        Op::SumDim(_) => one(cx.op(Op::Expand(cx.shape(a)), &[g])?),
        Op::MeanDim(d) => {
            let n = cx.shape(a)[*d] as f64;
            let scaled = cx.op(Op::MulScalar(1.0 / n), &[g])?;
            one(cx.op(Op::Expand(cx.shape(a)), &[scaled])?)
        }
        Op::MaxDim(d) => {
            let zeros = cx.zeros(a)?;
            one(cx.op(Op::ScatterAdd(*d), &[zeros, node.outs[1], g])?)
        }
        Op::MatMul => {
            let mut da = None;
            if want(0) {
                let bt = cx.transpose(b)?;
                let product = cx.op(Op::MatMul, &[g, bt])?;
                da = Some(cx.sum_to(product, a)?);
            }
            let mut db = None;
            if want(1) {
                let at = cx.transpose(a)?;
                let product = cx.op(Op::MatMul, &[at, g])?;
                db = Some(cx.sum_to(product, b)?);
            }
            Ok(vec![da, db])
        }
        Op::LogSoftmax(d) => {
            // g − softmax · Σ g
            let total = cx.op(Op::SumDim(*d), &[g])?;
            let softmax = cx.op(Op::Exp, &[y])?;
            let product = cx.op(Op::Mul, &[softmax, total])?;
            one(cx.op(Op::Sub, &[g, product])?)
        }
        Op::Gather(d) => {
            let zeros = cx.zeros(a)?;
            let da = cx.op(Op::ScatterAdd(*d), &[zeros, b, g])?;
            Ok(vec![Some(da), None])
        }
        Op::ScatterAdd(d) => {
            let dv = want(2)
                .then(|| cx.op(Op::Gather(*d), &[g, b]))
                .transpose()?;
            Ok(vec![want(0).then_some(g), None, dv])
        }
        Op::Conv2d(options) => {
            let mut parts = vec![None; ins.len()];
            if want(0) {
                let op = Op::Conv2dInputGrad(*options, cx.shape(a));
                parts[0] = Some(cx.op(op, &[b, g])?);
            }
            if want(1) {
                let op = Op::Conv2dWeightGrad(*options, cx.shape(b));
                parts[1] = Some(cx.op(op, &[a, g])?);
            }
            if want(2) {
                parts[2] = Some(cx.channel_sum(g)?);
            }
            Ok(parts)
        }
        Op::MaxPool2d(options) => one(cx.op(Op::MaxPool2dGrad(*options), &[a, g, node.outs[1]])?),
        Op::AvgPool2d(options) => one(cx.op(Op::AvgPool2dGrad(*options), &[a, g])?),
        Op::Full(..) => Ok(vec![]),
        // Made by `fuse`, after all gradients are taken.
        Op::Axpy(_)
        | Op::MatMulAdd(_)
        | Op::Dot
        | Op::Conv2dInputGrad(..)
        | Op::Conv2dWeightGrad(..)
        | Op::MaxPool2dGrad(_)
        | Op::AvgPool2dGrad(_) => Err(none()),
    }
}

struct Rule<'a> {
    graph: &'a mut Graph,
    loc: Loc,
}

impl Rule<'_> {
    fn op(&mut self, op: Op, ins: &[Val]) -> Result<Val, TypeError> {
        self.graph.push(op, ins, self.loc)
    }

    fn shape(&self, v: Val) -> Vec<usize> {
        self.graph.shape(v).to_vec()
    }

    fn zeros(&mut self, like: Val) -> Result<Val, TypeError> {
        let shape = self.shape(like);
        self.op(Op::Full(0.0, shape), &[])
    }

    fn reshape(&mut self, v: Val, shape: Vec<usize>) -> Result<Val, TypeError> {
        self.op(Op::Reshape(shape), &[v])
    }

    /// Swaps the last two dimensions.
    fn transpose(&mut self, v: Val) -> Result<Val, TypeError> {
        let mut axes: Vec<usize> = (0..self.graph.shape(v).len()).collect();
        let last = axes.len() - 1;
        axes.swap(last - 1, last);
        self.op(Op::Permute(axes), &[v])
    }

    /// Undoes a broadcast: sums `g` over the dimensions that `target` has with size 1.
    fn sum_to(&mut self, mut g: Val, target: Val) -> Result<Val, TypeError> {
        for (d, n) in self.shape(target).into_iter().enumerate() {
            if n == 1 && self.graph.shape(g)[d] != 1 {
                g = self.op(Op::SumDim(d), &[g])?;
            }
        }
        Ok(g)
    }

    /// Repeats the one element of `g` in the shape of `like`.
    fn spread(&mut self, g: Val, like: Val) -> Result<Val, TypeError> {
        let shape = self.shape(like);
        let g = self.reshape(g, vec![1; shape.len()])?;
        self.op(Op::Expand(shape), &[g])
    }

    /// `[n, c, h, w]` summed to `[c]`, along the contiguous dimensions first.
    fn channel_sum(&mut self, g: Val) -> Result<Val, TypeError> {
        let shape = self.shape(g);
        let (n, c) = (shape[0], shape[1]);
        let rows = self.reshape(g, vec![n, c, shape[2] * shape[3]])?;
        let planes = self.op(Op::SumDim(2), &[rows])?;
        let sums = self.op(Op::SumDim(0), &[planes])?;
        self.reshape(sums, vec![c])
    }
}
