//! Ops of the tensor dialect.

use std::sync::Arc;

use super::{Cmp, Constant, Conv2d, DType, Distribution, Pool2d};

/// What a node computes. Each variant is documented by its signature, `(operands) -> results`.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// `() -> f32[shape]`: every element is the literal.
    Full(f64, Vec<usize>),
    /// `() -> T`: the given values.
    Constant(Constant),
    /// `() -> f32[shape]`: random numbers, drawn anew each time the graph runs. The number is the
    /// stream that this op draws from; each random op of a graph has its own.
    Random(Distribution, usize, Vec<usize>),
    /// `(a, b) -> a + b`, broadcasting, as do the next four ops.
    Add,
    /// `(a, b) -> a − b`.
    Sub,
    /// `(a, b) -> a · b`.
    Mul,
    /// `(a, b) -> a / b`.
    Div,
    /// `(a, b) -> aᵇ`.
    Pow,
    /// `(a) -> a + c`.
    AddScalar(f64),
    /// `(a) -> a · c`.
    MulScalar(f64),
    /// `(y, s, x) -> y + c · s · x` with `s: f32[1]`: a parameter update in one pass.
    Axpy(f64),
    /// `(y, s, a, b) -> y + c · s · (a b)`, matrices: the update of a dense layer's weight.
    MatMulAdd(f64),
    /// `(a, b, …) -> (y, …, f32[1] sum, …)`: elementwise ops in one pass.
    Fused(Arc<Fused>),
    /// `(a) -> −a`.
    Neg,
    /// `(a) -> eᵃ`.
    Exp,
    /// `(a) -> ln a`.
    Log,
    /// `(a) -> ln (1 + a)`.
    Log1p,
    /// `(a) -> √a`.
    Sqrt,
    /// `(a) -> aᶜ`.
    PowScalar(f64),
    /// `(a) -> |a|`.
    Abs,
    /// `(a) -> −1, 0 or 1`.
    Sign,
    /// `(a) -> ⌊a⌋`.
    Floor,
    /// `(a) -> sin a`.
    Sin,
    /// `(a) -> cos a`.
    Cos,
    /// `(a) -> tanh a`.
    Tanh,
    /// `(a) -> 1 / (1 + e⁻ᵃ)`.
    Sigmoid,
    /// `(a) -> erf a`, the error function.
    Erf,
    /// `(a) -> min(max(a, low), high)`.
    Clamp(f64, f64),
    /// `(a) -> max(a, 0)`.
    Relu,
    /// `(y, g) -> 0 where y ≤ 0, else g`, also where `y` is NaN; `y` is the result of the `relu`.
    ReluGrad,
    /// `(a, b) -> bool`, broadcasting: whether the order holds.
    Compare(Cmp),
    /// `(a) -> bool`: whether the order holds between `a` and the literal.
    CompareScalar(Cmp, f64),
    /// `(bool a, bool b) -> a ∧ b`, of equal shapes.
    And,
    /// `(bool a, bool b) -> a ∨ b`, of equal shapes.
    Or,
    /// `(bool a) -> ¬a`.
    Not,
    /// `(bool m, a, b) -> a where m, else b`, broadcasting.
    Where,
    /// `(a) -> a` with another element type. A 16-bit float is rounded to nearest, ties to even.
    Cast(DType),
    /// `(a) -> a`, through which no gradient flows. Differentiation removes it.
    StopGradient,
    /// `(a) -> a` with another shape of as many elements.
    Reshape(Vec<usize>),
    /// `(a) -> a` with its dimensions in another order.
    Permute(Vec<usize>),
    /// `(a) -> a` in reverse order along dimensions.
    Flip(Vec<usize>),
    /// `(a) -> a` with dimensions of size 1 repeated.
    Expand(Vec<usize>),
    /// `(a) -> a[start..end, …]`, one range for each dimension.
    Slice(Vec<(usize, usize)>),
    /// `(a, v) -> a` with `v` written at `[start..end, …]`.
    SliceAssign(Vec<(usize, usize)>),
    /// `(a, b, …) -> ` joined along a dimension.
    Cat(usize),
    /// `(a) -> f32[1]`: sum of all elements.
    Sum,
    /// `(a, b) -> f32[1]`: `Σ a · b` over all elements, in one pass.
    Dot,
    /// `(a) -> ` sum along a dimension, kept with size 1.
    SumDim(usize),
    /// `(a) -> f32[1]`: mean of all elements.
    Mean,
    /// `(a) -> ` mean along a dimension, kept with size 1.
    MeanDim(usize),
    /// `(a) -> (max, i32 argmax)` along a dimension, kept with size 1.
    MaxDim(usize),
    /// `(a) -> ` running sum along a dimension, from its end if `reverse`.
    CumSum {
        /// The dimension.
        dim: usize,
        /// Whether the sum runs from the end.
        reverse: bool,
    },
    /// `(a, b) -> a b`: matrix product of the last two dimensions. As in the convolutions and
    /// their gradients, operands may be 16-bit floats of one type; sums and the result are `f32`.
    MatMul,
    /// `(a) -> log softmax` along a dimension.
    LogSoftmax(usize),
    /// `(a, i32 i) -> a[i]` along a dimension.
    Gather(usize),
    /// `(a, i32 i, v) -> a` with `v` added at `i` along a dimension.
    ScatterAdd(usize),
    /// `(a, i32[n] i) -> ` the entries of `a` at `i` of a dimension.
    Select(usize),
    /// `(a, i32[n] i, v) -> a` with `v` added to the entries at `i` of a dimension.
    SelectAdd(usize),
    /// `(x, w[, b]) -> y`: `x: [n, c, h, w]`, `w: [o, c / groups, kh, kw]`, `b: [o]`.
    Conv2d(Conv2d),
    /// `(w, g) -> x`: gradient of a convolution's input, of the given shape.
    Conv2dInputGrad(Conv2d, Vec<usize>),
    /// `(x, g) -> w`: gradient of a convolution's weight, of the given shape.
    Conv2dWeightGrad(Conv2d, Vec<usize>),
    /// `(x) -> (y, i32 index)`: largest element of each window and its place in the plane.
    MaxPool2d(Pool2d),
    /// `(x, g, i32 index) -> x`: gradient of a max pool's input.
    MaxPool2dGrad(Pool2d),
    /// `(x) -> y`: mean of each window.
    AvgPool2d(Pool2d),
    /// `(x, g) -> x`: gradient of an average pool's input.
    AvgPool2dGrad(Pool2d),
}

/// A sequence of elementwise ops over one shape, which is computed in one pass over memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Fused {
    /// Shape of every step's result; operands broadcast to it.
    pub shape: Vec<usize>,
    /// Elementwise ops, each with the numbers of the values that it reads. The operands are numbered
    /// first, then the results of the steps.
    pub steps: Vec<(Op, Vec<usize>)>,
    /// The values that are results.
    pub outputs: Vec<usize>,
    /// The values whose sums over all elements are further results, after the outputs.
    pub sums: Vec<usize>,
    /// The values whose sums over the first dimension, of size 1 in the result, come after those.
    pub leading_sums: Vec<usize>,
    /// The values whose sums over all dimensions but the second, that of channels, come last. Their other
    /// sizes are 1.
    pub channel_sums: Vec<usize>,
}

impl Fused {
    /// Whether all steps are elementwise and read earlier values, and all results are floats.
    pub(super) fn is_sound(&self, operands: usize) -> bool {
        let known = operands + self.steps.len();
        let step = |(i, (op, ins)): (usize, &(Op, Vec<usize>))| {
            op.is_elementwise() && !ins.is_empty() && ins.iter().all(|&v| v < operands + i)
        };
        let float = |v: &usize| {
            *v < known
                && v.checked_sub(operands)
                    .is_none_or(|i| !self.steps[i].0.gives_mask())
        };
        self.steps.iter().enumerate().all(step)
            && self.results().all(|v| float(&v))
            && self.results().next().is_some()
            && (self.leading_sums.is_empty() || !self.shape.is_empty())
            && (self.channel_sums.is_empty() || self.shape.len() > 1)
    }

    /// The values that are results, or whose sums are.
    fn results(&self) -> impl Iterator<Item = usize> + '_ {
        let parts = self.leading_sums.iter().chain(&self.channel_sums);
        let sums = self.sums.iter().chain(parts);
        self.outputs.iter().chain(sums).copied()
    }

    /// The shape of a sum over the first dimension.
    pub fn leading_shape(&self) -> Vec<usize> {
        let rest = self.shape.get(1..).unwrap_or_default();
        std::iter::once(1).chain(rest.iter().copied()).collect()
    }

    /// The shape of a sum over all dimensions but the second.
    pub fn channels_shape(&self) -> Vec<usize> {
        let sizes = self.shape.iter().enumerate();
        sizes.map(|(i, n)| if i == 1 { *n } else { 1 }).collect()
    }
}
