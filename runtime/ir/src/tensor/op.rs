//! Ops and types of the tensor dialect.

use std::fmt;

/// Element type of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DType {
    /// 32-bit float.
    F32,
    /// 32-bit integer: labels and indices.
    I32,
}

/// Element type and shape of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// Element type.
    pub dtype: DType,
    /// Size of each dimension.
    pub shape: Vec<usize>,
}

impl TensorType {
    /// A float tensor.
    pub fn f32(shape: impl Into<Vec<usize>>) -> Self {
        Self {
            dtype: DType::F32,
            shape: shape.into(),
        }
    }

    /// An integer tensor.
    pub fn i32(shape: impl Into<Vec<usize>>) -> Self {
        Self {
            dtype: DType::I32,
            shape: shape.into(),
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether a dimension is zero.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.dtype {
            DType::F32 => "f32[",
            DType::I32 => "i32[",
        })?;
        for (i, dim) in self.shape.iter().enumerate() {
            write!(f, "{}{dim}", if i == 0 { "" } else { "x" })?;
        }
        f.write_str("]")
    }
}

/// Options of a 2-d convolution, `[vertical, horizontal]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conv2d {
    /// Step between windows.
    pub stride: [usize; 2],
    /// Zeros added on each side.
    pub padding: [usize; 2],
    /// Distance between the elements of a window.
    pub dilation: [usize; 2],
    /// Number of channel groups.
    pub groups: usize,
}

/// Options of a 2-d pool, `[vertical, horizontal]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pool2d {
    /// Window size.
    pub kernel: [usize; 2],
    /// Step between windows.
    pub stride: [usize; 2],
    /// Cells added on each side.
    pub padding: [usize; 2],
    /// Distance between the elements of a window (max pools only).
    pub dilation: [usize; 2],
    /// Whether padding counts in the mean (average pools only).
    pub count_include_pad: bool,
}

/// What a node computes. Operands are listed as `(operands) -> results`.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// `() -> f32[shape]`: every element is the literal.
    Full(f64, Vec<usize>),
    /// `(a, b) -> a + b`, broadcasting, like the three that follow.
    Add,
    /// `(a, b) -> a − b`.
    Sub,
    /// `(a, b) -> a · b`.
    Mul,
    /// `(a, b) -> a / b`.
    Div,
    /// `(a) -> a + c`.
    AddScalar(f64),
    /// `(a) -> a · c`.
    MulScalar(f64),
    /// `(y, s, x) -> y + c · s · x` with `s: f32[1]`: a parameter update in one pass.
    Axpy(f64),
    /// `(y, s, a, b) -> y + c · s · (a b)`, matrices: the update of a dense layer's weight.
    MatMulAdd(f64),
    /// `(a) -> −a`.
    Neg,
    /// `(a) -> eᵃ`.
    Exp,
    /// `(a) -> ln a`.
    Log,
    /// `(a) -> √a`.
    Sqrt,
    /// `(a) -> max(a, 0)`.
    Relu,
    /// `(y, g) -> g where y > 0, else 0`; `y` is the result of the `relu`.
    ReluGrad,
    /// `(a) -> a` with another shape of as many elements.
    Reshape(Vec<usize>),
    /// `(a) -> a` with its dimensions in another order.
    Permute(Vec<usize>),
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
    /// `(a, b) -> a b`: matrix product of the last two dimensions.
    MatMul,
    /// `(a) -> log softmax` along a dimension.
    LogSoftmax(usize),
    /// `(a, i32 i) -> a[i]` along a dimension.
    Gather(usize),
    /// `(a, i32 i, v) -> a` with `v` added at `i` along a dimension.
    ScatterAdd(usize),
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

impl Op {
    /// Name in the text form, without the dialect.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Full(..) => "full",
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::Div => "div",
            Self::AddScalar(_) => "add_scalar",
            Self::MulScalar(_) => "mul_scalar",
            Self::Axpy(_) => "axpy",
            Self::MatMulAdd(_) => "matmul_add",
            Self::Neg => "neg",
            Self::Exp => "exp",
            Self::Log => "log",
            Self::Sqrt => "sqrt",
            Self::Relu => "relu",
            Self::ReluGrad => "relu_grad",
            Self::Reshape(_) => "reshape",
            Self::Permute(_) => "permute",
            Self::Expand(_) => "expand",
            Self::Slice(_) => "slice",
            Self::SliceAssign(_) => "slice_assign",
            Self::Cat(_) => "cat",
            Self::Sum => "sum",
            Self::Dot => "dot",
            Self::SumDim(_) => "sum_dim",
            Self::Mean => "mean",
            Self::MeanDim(_) => "mean_dim",
            Self::MaxDim(_) => "max_dim",
            Self::MatMul => "matmul",
            Self::LogSoftmax(_) => "log_softmax",
            Self::Gather(_) => "gather",
            Self::ScatterAdd(_) => "scatter_add",
            Self::Conv2d(_) => "conv2d",
            Self::Conv2dInputGrad(..) => "conv2d_input_grad",
            Self::Conv2dWeightGrad(..) => "conv2d_weight_grad",
            Self::MaxPool2d(_) => "max_pool2d",
            Self::MaxPool2dGrad(_) => "max_pool2d_grad",
            Self::AvgPool2d(_) => "avg_pool2d",
            Self::AvgPool2dGrad(_) => "avg_pool2d_grad",
        }
    }
}
