//! The operations `arith.*` on numbers.

use crate::text::codecs::{Count, Real};
use crate::text::ops;

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Math {
    /// `√x`.
    Sqrt,
    /// `eˣ`.
    Exp,
    /// `ln x`.
    Log,
    /// `cos x`, of radians.
    Cos,
    /// `⌊x⌋`.
    Floor,
}

/// An op on numbers, which may run anywhere. Operands and results are listed as
/// `(operands) -> results`.
#[derive(Clone, Debug, PartialEq)]
pub enum ArithOp {
    /// `arith.const`: `() -> f32`.
    Const(f64),
    /// `arith.index_const`: `() -> index`.
    IndexConst(usize),
    /// `arith.real`: `(index) -> f32`; a count as a number.
    Real,
    /// `arith.add`: `(f32, f32) -> f32`, like the three that follow.
    Add,
    /// `arith.sub`.
    Sub,
    /// `arith.mul`.
    Mul,
    /// `arith.div`.
    Div,
    /// `arith.pow`: `(f32 a, f32 b) -> f32`; `aᵇ`.
    Pow,
    /// `arith.neg`: `(f32) -> f32`.
    Neg,
    /// `arith.sqrt` and kin: `(f32) -> f32`.
    Math(Math),
    /// `arith.select`: `(f32 c, f32 a, f32 b) -> f32`; `a` if `c > 0`, else `b`.
    Select,
}

ops! { ArithOp {
    "arith.const" = Const [value: Real];
    "arith.index_const" = IndexConst [value: Count];
    "arith.real" = Real [];
    "arith.add" = Add [];
    "arith.sub" = Sub [];
    "arith.mul" = Mul [];
    "arith.div" = Div [];
    "arith.pow" = Pow [];
    "arith.neg" = Neg [];
    "arith.sqrt" = Math (Math::Sqrt);
    "arith.exp" = Math (Math::Exp);
    "arith.log" = Math (Math::Log);
    "arith.cos" = Math (Math::Cos);
    "arith.floor" = Math (Math::Floor);
    "arith.select" = Select [];
} }

impl ArithOp {
    /// Whether its result is known before a round runs.
    pub(super) fn is_constant(&self) -> bool {
        match self {
            Self::Const(_) | Self::IndexConst(_) | Self::Real => true,
            Self::Add
            | Self::Sub
            | Self::Mul
            | Self::Div
            | Self::Pow
            | Self::Neg
            | Self::Math(_)
            | Self::Select => false,
        }
    }
}
