//! The steps of a program, and their computation for a block: one vectorized loop for each step.

use Values::{Scalar, Slice};

use crate::math;

/// One step of a program. A value is identified by the number of the step that computes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// The elements of an operand, repeated to the shape of the result.
    Operand(usize),
    /// One number.
    Constant(f32),
    /// A function of one value.
    Unary(Unary, usize),
    /// A function of two values.
    Binary(Binary, usize, usize),
    /// `(a, x, y)`: `a + x * y`, rounded after the product and after the sum. A program merges two steps into this one.
    MulAdd(usize, usize, usize),
    /// `(a, x, y)`: `a - x * y`, rounded likewise.
    MulSub(usize, usize, usize),
    /// `(mask, a, b)`: `a` where the mask is not 0, and `b` elsewhere.
    Select(usize, usize, usize),
}

/// A function of one value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unary {
    /// `-x`.
    Neg,
    /// `|x|`.
    Abs,
    /// -1, 0 or 1; 0 for NaN, as in burn.
    Sign,
    /// The largest integer that is not above `x`.
    Floor,
    /// `√x`.
    Sqrt,
    /// `e^x`.
    Exp,
    /// `ln x`.
    Log,
    /// `ln(1 + x)`.
    Log1p,
    /// The hyperbolic tangent.
    Tanh,
    /// `1 / (1 + e^-x)`.
    Sigmoid,
    /// The error function.
    Erf,
    /// The sine, computed one element at a time.
    Sin,
    /// The cosine, computed one element at a time.
    Cos,
    /// `max(x, 0)`. NaN for NaN.
    Relu,
    /// `x` limited to the range from `min` to `max`. NaN for NaN, and if a bound is NaN.
    Clamp {
        /// The least result.
        min: f32,
        /// The greatest result.
        max: f32,
    },
    /// `x` to a power. Powers other than 1, 2 and 3 are computed one element at a time.
    Powf(f32),
    /// 1 where `x` is 0, and 0 elsewhere.
    Not,
}

/// A function of two values. Comparisons and logical functions return 1 for true and 0 for false. Logical functions take
/// every value except 0 as true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b`.
    Div,
    /// `a` to the power `b`, computed one element at a time.
    Pow,
    /// `a > b`.
    Greater,
    /// `a >= b`.
    GreaterEqual,
    /// `a < b`.
    Less,
    /// `a <= b`.
    LessEqual,
    /// `a == b`.
    Equal,
    /// `a != b`.
    NotEqual,
    /// Whether both are true.
    And,
    /// Whether at least one is true.
    Or,
    /// 0 where `a <= 0`, and `b` elsewhere: the gradient of [`Unary::Relu`], whose result is `a`.
    ReluGrad,
}

/// The values of a step for the elements of a block.
#[derive(Clone, Copy)]
pub(super) enum Values<'a> {
    /// One value for each element.
    Slice(&'a [f32]),
    /// One value for all elements.
    Scalar(f32),
}

impl Values<'_> {
    /// The values as a slice, of length 1 for a scalar. One compiled loop over the slice serves both cases.
    #[inline(always)]
    fn as_slice(&self) -> &[f32] {
        match self {
            Slice(values) => values,
            Scalar(value) => std::slice::from_ref(value),
        }
    }
}

impl Step {
    /// Whether the step is a function of other values.
    pub(super) fn is_computed(&self) -> bool {
        !matches!(self, Self::Operand(_) | Self::Constant(_))
    }

    /// Computes the step for a block. An operand or a constant computes nothing.
    #[inline(always)]
    pub(super) fn run<'a>(self, read: impl Fn(usize) -> Values<'a>, to: &mut [f32]) {
        match self {
            Self::Unary(function, x) => function.run(read(x), to),
            Self::Binary(function, a, b) => function.run(read(a), read(b), to),
            Self::MulAdd(a, x, y) => zip3([a, x, y].map(read), to, |a, x, y| a + x * y),
            Self::MulSub(a, x, y) => zip3([a, x, y].map(read), to, |a, x, y| a - x * y),
            Self::Select(mask, a, b) => {
                let choose = |mask, a, b| if mask != 0.0 { a } else { b };
                zip3([mask, a, b].map(read), to, choose);
            }
            Self::Operand(_) | Self::Constant(_) => {}
        }
    }
}

impl Unary {
    /// Computes a block.
    #[inline(always)]
    pub(super) fn run(self, x: Values<'_>, to: &mut [f32]) {
        match self {
            Self::Neg => map(x, to, |x| -x),
            Self::Abs => map(x, to, f32::abs),
            Self::Sign => map(x, to, |x| {
                let above = if x > 0.0 { 1.0 } else { 0.0 };
                if x < 0.0 { -1.0 } else { above }
            }),
            Self::Floor => map(x, to, f32::floor),
            Self::Sqrt => map(x, to, f32::sqrt),
            Self::Exp => map(x, to, math::exp),
            Self::Log => map(x, to, math::log),
            Self::Log1p => map(x, to, math::log1p),
            Self::Tanh => map(x, to, math::tanh),
            Self::Sigmoid => map(x, to, math::sigmoid),
            Self::Erf => map(x, to, math::erf),
            Self::Sin => map(x, to, f32::sin),
            Self::Cos => map(x, to, f32::cos),
            // A NaN stays a NaN, as in burn and PyTorch.
            Self::Relu => map(x, to, |x| if x <= 0.0 { 0.0 } else { x }),
            // As in burn and PyTorch. No comparison below would be true, and `x` would stay as it is.
            Self::Clamp { min, max } if min.is_nan() || max.is_nan() => map(x, to, |_| f32::NAN),
            Self::Clamp { min, max } => map(x, to, |x| {
                let x = if x < min { min } else { x };
                if x > max { max } else { x }
            }),
            Self::Powf(1.0) => map(x, to, |x| x),
            Self::Powf(2.0) => map(x, to, |x| x * x),
            Self::Powf(3.0) => map(x, to, |x| x * x * x),
            Self::Powf(power) => map(x, to, |x| x.powf(power)),
            Self::Not => map(x, to, |x| truth(x == 0.0)),
        }
    }
}

impl Binary {
    /// Computes a block.
    #[inline(always)]
    pub(super) fn run(self, a: Values<'_>, b: Values<'_>, to: &mut [f32]) {
        match self {
            Self::Add => zip(a, b, to, |a, b| a + b),
            Self::Sub => zip(a, b, to, |a, b| a - b),
            Self::Mul => zip(a, b, to, |a, b| a * b),
            Self::Div => zip(a, b, to, |a, b| a / b),
            Self::Pow => zip(a, b, to, f32::powf),
            Self::Greater => zip(a, b, to, |a, b| truth(a > b)),
            Self::GreaterEqual => zip(a, b, to, |a, b| truth(a >= b)),
            Self::Less => zip(a, b, to, |a, b| truth(a < b)),
            Self::LessEqual => zip(a, b, to, |a, b| truth(a <= b)),
            Self::Equal => zip(a, b, to, |a, b| truth(a == b)),
            Self::NotEqual => zip(a, b, to, |a, b| truth(a != b)),
            Self::And => zip(a, b, to, |a, b| truth(a != 0.0 && b != 0.0)),
            Self::Or => zip(a, b, to, |a, b| truth(a != 0.0 || b != 0.0)),
            Self::ReluGrad => zip(a, b, to, |y, g| if y <= 0.0 { 0.0 } else { g }),
        }
    }
}

/// 1 for true and 0 for false.
#[inline(always)]
fn truth(holds: bool) -> f32 {
    if holds { 1.0 } else { 0.0 }
}

/// Computes a block of a function of one value.
#[inline(always)]
fn map(x: Values<'_>, to: &mut [f32], f: impl Fn(f32) -> f32) {
    for (to, x) in to.iter_mut().zip(x.as_slice()) {
        *to = f(*x);
    }
    if let Scalar(_) = x {
        repeat_first(to);
    }
}

/// Computes a block of a function of two values.
#[inline(always)]
fn zip(a: Values<'_>, b: Values<'_>, to: &mut [f32], f: impl Fn(f32, f32) -> f32) {
    match (&a, &b) {
        (Slice(a), Scalar(b)) => map(Slice(a), to, |a| f(a, *b)),
        (Scalar(a), Slice(b)) => map(Slice(b), to, |b| f(*a, b)),
        _ => {
            for (to, (a, b)) in to.iter_mut().zip(a.as_slice().iter().zip(b.as_slice())) {
                *to = f(*a, *b);
            }
            if let (Scalar(_), Scalar(_)) = (a, b) {
                repeat_first(to);
            }
        }
    }
}

/// Computes a block of a function of three values.
#[inline(always)]
fn zip3([a, b, c]: [Values<'_>; 3], to: &mut [f32], f: impl Fn(f32, f32, f32) -> f32) {
    match (&a, &b, &c) {
        (Slice(a), Slice(b), Slice(c)) => {
            let values = a.iter().zip(*b).zip(*c);
            for (to, ((a, b), c)) in to.iter_mut().zip(values) {
                *to = f(*a, *b, *c);
            }
        }
        (_, _, Scalar(c)) => zip(a, b, to, |a, b| f(a, b, *c)),
        (_, Scalar(b), Slice(c)) => zip(a, Slice(c), to, |a, c| f(a, *b, c)),
        (Scalar(a), Slice(b), Slice(c)) => zip(Slice(b), Slice(c), to, |b, c| f(*a, b, c)),
    }
}

/// Sets all values to the first one.
fn repeat_first(values: &mut [f32]) {
    if let [first, rest @ ..] = values {
        rest.fill(*first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clamp_keeps_what_is_no_number() {
        let x = [f32::NEG_INFINITY, -3.0, -0.0, 0.5, 3.0, f32::NAN];
        let clamp = |min, max, x: Values<'_>| {
            let mut to = [7.0; 6];
            Unary::Clamp { min, max }.run(x, &mut to);
            to
        };
        let found = clamp(-1.0, 2.0, Slice(&x));
        assert_eq!(found[..5], [-1.0, -1.0, 0.0, 0.5, 2.0]);
        assert!(found[5].is_nan());
        // The upper bound wins if the bounds are in the wrong order.
        assert_eq!(clamp(2.0, -1.0, Slice(&x))[..5], [-1.0; 5]);
        for (min, max) in [(f32::NAN, 2.0), (-1.0, f32::NAN), (f32::NAN, f32::NAN)] {
            for x in [Slice(&x), Scalar(0.5)] {
                assert!(
                    clamp(min, max, x).iter().all(|x| x.is_nan()),
                    "{min}, {max}"
                );
            }
        }
    }
}
