//! The typing rules of tensor ops.

use super::infer_layers as layers;
use super::operands::{
    Inferred, broadcast_of, check, dim, expect, factors, floats, one, operands, reduced, repeats,
    sizes,
};
use super::shapes::{broadcast, elements, fits, matmul};
use super::{DType, Op, TensorType};
use crate::Loc;

/// The operands of an op have the wrong number, types or shapes.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{loc}: {}", self.without_location())]
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

    /// What the op expected and found, without the location.
    pub fn without_location(&self) -> String {
        format!("`tensor.{}` {}", self.op, self.message())
    }

    /// The same without the op.
    pub(super) fn message(&self) -> String {
        format!("expected {}, found {}", self.expected, self.found)
    }
}

impl Op {
    /// The types of the op's results.
    ///
    /// # Errors
    ///
    /// [`TypeError`], if the operands have the wrong number, element type, rank or size.
    pub fn infer(&self, ins: &[&TensorType], loc: Loc) -> Result<Vec<TensorType>, TypeError> {
        self.result_types(ins).map_err(|expected| {
            let found: Vec<String> = ins.iter().map(ToString::to_string).collect();
            TypeError::new(
                self.name(),
                loc,
                expected,
                format!("({})", found.join(", ")),
            )
        })
    }

    fn result_types(&self, ins: &[&TensorType]) -> Inferred {
        match self {
            Self::Full(_, shape) | Self::Random(_, _, shape) => {
                check(ins.is_empty(), "no operand")?;
                expect(elements(shape), "a shape of countable elements")?;
                one(DType::F32, shape.clone())
            }
            Self::Constant(c) => {
                let fit = ins.is_empty() && elements(&c.ty.shape) == Some(c.values.len());
                check(fit, "as many values as elements")?;
                Ok(vec![c.ty.clone()])
            }
            Self::Add | Self::Sub | Self::Mul => {
                let [a, b] = operands(ins)?;
                let same = a.dtype == b.dtype && a.dtype.is_number();
                check(same, "two tensors of numbers of one type")?;
                one(a.dtype, broadcast_of(&[a, b])?)
            }
            Self::Div | Self::Pow => {
                let [a, b] = floats(ins)?;
                one(DType::F32, broadcast_of(&[a, b])?)
            }
            Self::AddScalar(_) | Self::MulScalar(_) | Self::Neg => {
                let [a] = operands(ins)?;
                check(a.dtype.is_number(), "one tensor of numbers")?;
                Ok(vec![a.clone()])
            }
            Self::Exp
            | Self::Log
            | Self::Log1p
            | Self::Sqrt
            | Self::PowScalar(_)
            | Self::Abs
            | Self::Sign
            | Self::Floor
            | Self::Sin
            | Self::Cos
            | Self::Tanh
            | Self::Sigmoid
            | Self::Erf
            | Self::Clamp(..)
            | Self::Relu => {
                let [a] = floats(ins)?;
                Ok(vec![a.clone()])
            }
            Self::Compare(_) => {
                let [a, b] = operands(ins)?;
                let same = a.dtype == b.dtype && a.dtype.is_number();
                check(same, "two tensors of numbers of one type")?;
                one(DType::Bool, broadcast_of(&[a, b])?)
            }
            Self::CompareScalar(..) => {
                let [a] = operands(ins)?;
                check(a.dtype.is_number(), "one tensor of numbers")?;
                one(DType::Bool, a.shape.clone())
            }
            Self::And | Self::Or => {
                let [a, b] = operands(ins)?;
                let fit = a == b && a.dtype == DType::Bool;
                check(fit, "two masks of one shape")?;
                Ok(vec![a.clone()])
            }
            Self::Not => {
                let [a] = operands(ins)?;
                check(a.dtype == DType::Bool, "one mask")?;
                Ok(vec![a.clone()])
            }
            Self::Where => {
                let [m, a, b] = operands(ins)?;
                let fit = m.dtype == DType::Bool && a.dtype == b.dtype && a.dtype.is_number();
                check(fit, "a mask and two tensors of numbers of one type")?;
                one(a.dtype, broadcast_of(&[m, a, b])?)
            }
            Self::Cast(dtype) => {
                let [a] = operands(ins)?;
                let short = a.dtype.is_short() || dtype.is_short();
                let fit = !short || a.dtype == DType::F32 || *dtype == DType::F32;
                check(fit, "f32 before or after a 16-bit float")?;
                one(*dtype, a.shape.clone())
            }
            Self::StopGradient => {
                let [a] = operands(ins)?;
                Ok(vec![a.clone()])
            }
            Self::Axpy(_) => {
                let [y, s, x] = floats(ins)?;
                let fit = y == x && s.shape == [1];
                check(fit, "two equal shapes around a scalar")?;
                Ok(vec![y.clone()])
            }
            Self::MatMulAdd(_) => {
                let [y, s, a, b] = operands(ins)?;
                floats::<2>(&[y, s])?;
                factors(&[a, b])?;
                let shape = matmul(&a.shape, &b.shape)
                    .filter(|shape| *shape == y.shape && shape.len() == 2 && s.shape == [1]);
                one(
                    DType::F32,
                    expect(shape, "y [m, n], a scalar, a [m, k] and b [k, n]")?,
                )
            }
            Self::Fused(fused) => {
                let fit = fused.is_sound(ins.len())
                    && ins.iter().all(|t| {
                        matches!(t.dtype, DType::F32 | DType::Bool)
                            && repeats(&t.shape, &fused.shape)
                    });
                check(fit, format!("operands that broadcast to {:?}", fused.shape))?;
                let results = fused.outputs.iter().map(|_| fused.shape.clone());
                let results = results.chain(fused.sums.iter().map(|_| vec![1]));
                let leading = fused.leading_sums.iter().map(|_| fused.leading_shape());
                let channels = fused.channel_sums.iter().map(|_| fused.channels_shape());
                let results = results.chain(leading).chain(channels);
                Ok(results.map(TensorType::f32).collect())
            }
            Self::ReluGrad => {
                let [y, g] = floats(ins)?;
                check(y == g, "two equal shapes")?;
                Ok(vec![y.clone()])
            }
            Self::Reshape(shape) => {
                let [a] = operands(ins)?;
                let to = TensorType::new(a.dtype, shape.clone());
                let fit = elements(shape) == Some(a.len());
                check(fit, format!("as many elements as {to} has"))?;
                Ok(vec![to])
            }
            Self::Permute(axes) => {
                let [a] = operands(ins)?;
                let mut seen = axes.clone();
                seen.sort_unstable();
                let fit = seen.iter().copied().eq(0..a.shape.len());
                check(fit, format!("an operand whose axes {axes:?} permute"))?;
                one(
                    a.dtype,
                    axes.iter().map(|&d| a.shape[d]).collect::<Vec<_>>(),
                )
            }
            Self::Flip(axes) => {
                let [a] = operands(ins)?;
                axes.iter().try_for_each(|&d| dim(a, d))?;
                Ok(vec![a.clone()])
            }
            Self::Expand(shape) => {
                let [a] = operands(ins)?;
                let to = broadcast(&a.shape, shape).filter(|to| to == shape);
                one(
                    a.dtype,
                    expect(to, format!("a shape that expands to {shape:?}"))?,
                )
            }
            Self::Slice(ranges) => {
                let [a] = operands(ins)?;
                let fit = fits(ranges, &a.shape);
                check(fit, format!("a shape that holds {ranges:?}"))?;
                one(a.dtype, sizes(ranges))
            }
            Self::SliceAssign(ranges) => {
                let [a, v] = floats(ins)?;
                let fit = fits(ranges, &a.shape) && sizes(ranges) == v.shape;
                check(
                    fit,
                    format!("a value of the size of {ranges:?} to write within the operand"),
                )?;
                Ok(vec![a.clone()])
            }
            Self::Cat(d) => {
                let first = expect(ins.first(), "at least one operand")?;
                dim(first, *d)?;
                let fit = ins.iter().all(|t| {
                    t.dtype == first.dtype
                        && t.shape.len() == first.shape.len()
                        && (0..t.shape.len()).all(|i| i == *d || t.shape[i] == first.shape[i])
                });
                check(
                    fit,
                    format!("tensors of one type whose shapes differ in dimension {d} alone"),
                )?;
                let mut shape = first.shape.clone();
                shape[*d] = ins.iter().map(|t| t.shape[*d]).sum();
                one(first.dtype, shape)
            }
            Self::Sum | Self::Mean => {
                floats::<1>(ins)?;
                one(DType::F32, [1])
            }
            Self::Dot => {
                let [a, b] = floats(ins)?;
                check(a == b, "two equal shapes")?;
                one(DType::F32, [1])
            }
            Self::SumDim(d) | Self::MeanDim(d) => {
                let [a] = floats(ins)?;
                one(DType::F32, reduced(a, *d)?)
            }
            Self::MaxDim(d) => {
                let [a] = floats(ins)?;
                let shape = reduced(a, *d)?;
                Ok(vec![TensorType::f32(shape.clone()), TensorType::i32(shape)])
            }
            Self::CumSum { dim: d, .. } | Self::LogSoftmax(d) => {
                let [a] = floats(ins)?;
                dim(a, *d)?;
                Ok(vec![a.clone()])
            }
            Self::MatMul => {
                let [a, b] = factors(ins)?;
                let shape = matmul(&a.shape, &b.shape);
                one(
                    DType::F32,
                    expect(shape, "matrices [.., m, k] and [.., k, n]")?,
                )
            }
            _ => layers::result_types(self, ins),
        }
    }
}
