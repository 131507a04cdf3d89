//! Groups of ops that rules and executors treat alike.

use super::{DType, Op};

/// A group of ops that rules and executors treat alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Has no operands.
    Source,
    /// Computes each element from elements of the operands, broadcasting.
    Elementwise,
    /// Moves, selects or sums elements along dimensions.
    Structure,
    /// Matrix products, convolutions, pools and the softmax.
    Layer,
    /// Made by fusion, after differentiation and after clients were batched.
    Fused,
}

impl Op {
    /// The family of this op.
    pub fn family(&self) -> Family {
        match self {
            Self::Full(..) | Self::Constant(_) | Self::Random(..) => Family::Source,
            Self::Axpy(_) | Self::MatMulAdd(_) | Self::Dot | Self::Fused(_) => Family::Fused,
            Self::Reshape(_)
            | Self::Permute(_)
            | Self::Flip(_)
            | Self::Expand(_)
            | Self::Slice(_)
            | Self::SliceAssign(_)
            | Self::Cat(_)
            | Self::Sum
            | Self::SumDim(_)
            | Self::Mean
            | Self::MeanDim(_)
            | Self::MaxDim(_)
            | Self::CumSum { .. }
            | Self::Gather(_)
            | Self::ScatterAdd(_)
            | Self::Select(_)
            | Self::SelectAdd(_) => Family::Structure,
            Self::MatMul
            | Self::LogSoftmax(_)
            | Self::Conv2d(_)
            | Self::Conv2dInputGrad(..)
            | Self::Conv2dWeightGrad(..)
            | Self::MaxPool2d(_)
            | Self::MaxPool2dGrad(_)
            | Self::AvgPool2d(_)
            | Self::AvgPool2dGrad(_) => Family::Layer,
            Self::Add
            | Self::Sub
            | Self::Mul
            | Self::Div
            | Self::Pow
            | Self::AddScalar(_)
            | Self::MulScalar(_)
            | Self::Neg
            | Self::Exp
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
            | Self::Relu
            | Self::ReluGrad
            | Self::Compare(_)
            | Self::CompareScalar(..)
            | Self::And
            | Self::Or
            | Self::Not
            | Self::Where
            | Self::Cast(_)
            | Self::StopGradient => Family::Elementwise,
        }
    }

    /// Whether each element of its result, a float or a mask, depends only on the same element of each
    /// operand.
    pub fn is_elementwise(&self) -> bool {
        match self {
            Self::StopGradient => false,
            Self::Cast(to) => *to == DType::F32,
            Self::Axpy(_) => true,
            _ => self.family() == Family::Elementwise,
        }
    }

    /// Whether its result is a mask of truth values.
    pub fn gives_mask(&self) -> bool {
        matches!(
            self,
            Self::Compare(_) | Self::CompareScalar(..) | Self::And | Self::Or | Self::Not
        )
    }
}
