//! Result types of each op, and the error when operands do not fit.

use super::{Conv2d, DType, Op, Pool2d, TensorType};
use crate::Loc;

/// An op's operands do not fit it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{loc}: `tensor.{op}` expected {expected}, found {found}")]
pub struct TypeError {
    op: String,
    expected: String,
    found: String,
    loc: Loc,
}

impl TypeError {
    pub(super) fn new(op: &str, loc: Loc, expected: impl ToString, found: impl ToString) -> Self {
        Self {
            op: op.to_owned(),
            expected: expected.to_string(),
            found: found.to_string(),
            loc,
        }
    }
}

impl Op {
    /// The types of the op's results.
    ///
    /// # Errors
    ///
    /// Operands of the wrong number, element type, rank or size.
    pub fn infer(&self, ins: &[&TensorType], loc: Loc) -> Result<Vec<TensorType>, TypeError> {
        let bad = |expected: &str| {
            let found: Vec<String> = ins.iter().map(ToString::to_string).collect();
            TypeError::new(
                self.name(),
                loc,
                expected,
                format!("({})", found.join(", ")),
            )
        };
        let one = |shape: Vec<usize>| Ok(vec![TensorType::f32(shape)]);
        let floats = |n: usize| {
            if ins.len() == n && ins.iter().all(|t| t.dtype == DType::F32) {
                Ok(())
            } else {
                Err(bad(&format!("{n} float operand(s)")))
            }
        };
        let dim = |d: usize| {
            if d < ins[0].shape.len() {
                Ok(())
            } else {
                Err(bad(&format!("an operand with a dimension {d}")))
            }
        };
        let reduced = |d: usize| {
            let mut shape = ins[0].shape.clone();
            shape[d] = 1;
            shape
        };
        match self {
            Self::Full(_, shape) => one(shape.clone()),
            Self::Add | Self::Sub | Self::Mul | Self::Div => {
                floats(2)?;
                let shape = broadcast(&ins[0].shape, &ins[1].shape)
                    .ok_or_else(|| bad("two shapes of equal rank that broadcast"))?;
                one(shape)
            }
            Self::AddScalar(_)
            | Self::MulScalar(_)
            | Self::Neg
            | Self::Exp
            | Self::Log
            | Self::Sqrt
            | Self::Relu => {
                floats(1)?;
                one(ins[0].shape.clone())
            }
            Self::Axpy(_) => {
                floats(3)?;
                same(ins[0], ins[2])
                    .filter(|()| ins[1].shape == [1])
                    .ok_or_else(|| bad("two equal shapes around a scalar"))?;
                one(ins[0].shape.clone())
            }
            Self::MatMulAdd(_) => {
                floats(4)?;
                matmul(&ins[2].shape, &ins[3].shape)
                    .filter(|shape| *shape == ins[0].shape && shape.len() == 2)
                    .filter(|_| ins[1].shape == [1])
                    .ok_or_else(|| bad("y [m, n], a scalar, a [m, k] and b [k, n]"))
                    .and_then(one)
            }
            Self::ReluGrad => {
                floats(2)?;
                same(ins[0], ins[1]).ok_or_else(|| bad("two equal shapes"))?;
                one(ins[0].shape.clone())
            }
            Self::Reshape(shape) => {
                let [a] = ins else {
                    return Err(bad("one operand"));
                };
                let to = TensorType {
                    dtype: a.dtype,
                    shape: shape.clone(),
                };
                if to.len() == a.len() {
                    Ok(vec![to])
                } else {
                    Err(bad(&format!("as many elements as {to} has")))
                }
            }
            Self::Permute(axes) => {
                floats(1)?;
                let mut seen = axes.clone();
                seen.sort_unstable();
                if !seen.iter().copied().eq(0..ins[0].shape.len()) {
                    return Err(bad(&format!("an operand whose axes {axes:?} permute")));
                }
                one(axes.iter().map(|&a| ins[0].shape[a]).collect())
            }
            Self::Expand(shape) => {
                floats(1)?;
                match broadcast(&ins[0].shape, shape) {
                    Some(to) if to == *shape => one(to),
                    _ => Err(bad(&format!("a shape that expands to {shape:?}"))),
                }
            }
            Self::Slice(ranges) => {
                floats(1)?;
                fits(ranges, &ins[0].shape)
                    .ok_or_else(|| bad(&format!("a shape that holds {ranges:?}")))?;
                one(ranges.iter().map(|(a, b)| b - a).collect())
            }
            Self::SliceAssign(ranges) => {
                floats(2)?;
                let sizes: Vec<usize> = ranges.iter().map(|(a, b)| b - a).collect();
                fits(ranges, &ins[0].shape)
                    .filter(|()| sizes == ins[1].shape)
                    .ok_or_else(|| bad(&format!("a value of shape {sizes:?} to write")))?;
                one(ins[0].shape.clone())
            }
            Self::Cat(d) => {
                floats(ins.len().max(1))?;
                dim(*d)?;
                let mut shape = reduced(*d);
                let fit = ins.iter().all(|t| {
                    t.shape.len() == shape.len()
                        && (0..shape.len()).all(|i| i == *d || t.shape[i] == shape[i])
                });
                if !fit {
                    return Err(bad(&format!("shapes that differ in dimension {d} alone")));
                }
                shape[*d] = ins.iter().map(|t| t.shape[*d]).sum();
                one(shape)
            }
            Self::Sum | Self::Mean => {
                floats(1)?;
                one(vec![1])
            }
            Self::Dot => {
                floats(2)?;
                same(ins[0], ins[1]).ok_or_else(|| bad("two equal shapes"))?;
                one(vec![1])
            }
            Self::SumDim(d) | Self::MeanDim(d) => {
                floats(1)?;
                dim(*d)?;
                one(reduced(*d))
            }
            Self::MaxDim(d) => {
                floats(1)?;
                dim(*d)?;
                let shape = reduced(*d);
                Ok(vec![TensorType::f32(shape.clone()), TensorType::i32(shape)])
            }
            Self::MatMul => {
                floats(2)?;
                matmul(&ins[0].shape, &ins[1].shape)
                    .ok_or_else(|| bad("matrices [.., m, k] and [.., k, n]"))
                    .and_then(one)
            }
            Self::LogSoftmax(d) => {
                floats(1)?;
                dim(*d)?;
                one(ins[0].shape.clone())
            }
            Self::Gather(d) => match ins {
                [a, i] if a.dtype == DType::F32 && i.dtype == DType::I32 => {
                    dim(*d)?;
                    one(i.shape.clone())
                }
                _ => Err(bad("a float tensor and integer indices")),
            },
            Self::ScatterAdd(d) => match ins {
                [a, i, v] if i.dtype == DType::I32 && i.shape == v.shape => {
                    dim(*d)?;
                    one(a.shape.clone())
                }
                _ => Err(bad("a tensor, integer indices and values of their shape")),
            },
            Self::Conv2d(options) => {
                floats(ins.len().clamp(2, 3))?;
                conv2d(options, &ins[0].shape, &ins[1].shape)
                    .ok_or_else(|| bad("x [n, c, h, w] and w [o, c / groups, kh, kw] that fit"))
                    .and_then(one)
            }
            Self::Conv2dInputGrad(_, shape) | Self::Conv2dWeightGrad(_, shape) => {
                floats(2)?;
                one(shape.clone())
            }
            Self::MaxPool2d(options) => {
                floats(1)?;
                let shape = pool2d(options, &ins[0].shape)
                    .ok_or_else(|| bad("x [n, c, h, w] no smaller than the window"))?;
                Ok(vec![TensorType::f32(shape.clone()), TensorType::i32(shape)])
            }
            Self::MaxPool2dGrad(_) => one(ins[0].shape.clone()),
            Self::AvgPool2d(options) => {
                floats(1)?;
                pool2d(options, &ins[0].shape)
                    .ok_or_else(|| bad("x [n, c, h, w] no smaller than the window"))
                    .and_then(one)
            }
            Self::AvgPool2dGrad(_) => {
                floats(2)?;
                one(ins[0].shape.clone())
            }
        }
    }
}

fn same(a: &TensorType, b: &TensorType) -> Option<()> {
    (a == b).then_some(())
}

fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    (a.len() == b.len()).then_some(())?;
    a.iter()
        .zip(b)
        .map(|(&x, &y)| match (x, y) {
            (1, n) | (n, 1) => Some(n),
            (n, m) => (n == m).then_some(n),
        })
        .collect()
}

fn fits(ranges: &[(usize, usize)], shape: &[usize]) -> Option<()> {
    let ok =
        ranges.len() == shape.len() && ranges.iter().zip(shape).all(|((a, b), n)| a <= b && b <= n);
    ok.then_some(())
}

fn matmul(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let (batch_a, &[m, k]) = a.split_at_checked(a.len().checked_sub(2)?)? else {
        return None;
    };
    let (batch_b, &[k_b, n]) = b.split_at_checked(b.len().checked_sub(2)?)? else {
        return None;
    };
    let mut shape = broadcast(batch_a, batch_b)?;
    (k == k_b).then(|| {
        shape.extend([m, n]);
        shape
    })
}

fn windows(size: usize, padding: usize, extent: usize, stride: usize) -> Option<usize> {
    Some((size + 2 * padding).checked_sub(extent)? / stride.max(1) + 1)
}

fn conv2d(options: &Conv2d, x: &[usize], w: &[usize]) -> Option<Vec<usize>> {
    let (&[n, c, h, wd], &[o, ci, kh, kw]) = (x, w) else {
        return None;
    };
    (c == ci * options.groups && o % options.groups == 0).then_some(())?;
    let extent = |k: usize, i: usize| options.dilation[i] * (k - 1) + 1;
    Some(vec![
        n,
        o,
        windows(h, options.padding[0], extent(kh, 0), options.stride[0])?,
        windows(wd, options.padding[1], extent(kw, 1), options.stride[1])?,
    ])
}

fn pool2d(options: &Pool2d, x: &[usize]) -> Option<Vec<usize>> {
    let &[n, c, h, w] = x else { return None };
    let extent = |i: usize| options.dilation[i] * (options.kernel[i] - 1) + 1;
    Some(vec![
        n,
        c,
        windows(h, options.padding[0], extent(0), options.stride[0])?,
        windows(w, options.padding[1], extent(1), options.stride[1])?,
    ])
}
