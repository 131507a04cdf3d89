//! Attributes of tensor ops.

use std::sync::Arc;

use super::TensorType;

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

/// A tensor with values that are known when the graph is built.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Element type and shape.
    pub ty: TensorType,
    /// One value per element in row-major order. Integers and truth values are whole numbers.
    pub values: Arc<[f64]>,
}

/// A distribution of random numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Uniform in `[low, high)`.
    Uniform(f64, f64),
    /// Normal with this mean and standard deviation.
    Normal(f64, f64),
    /// 1 with this probability, else 0.
    Bernoulli(f64),
    /// Standard normal noise of differential privacy. Its tails have no end, and its numbers may come from
    /// a secret of the run instead of its seed.
    GaussianNoise,
    /// Laplace noise of scale 1, in the same way.
    LaplaceNoise,
}

/// A comparison of two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cmp {
    /// `a = b`.
    Equal,
    /// `a ≠ b`.
    NotEqual,
    /// `a > b`.
    Greater,
    /// `a ≥ b`.
    GreaterEqual,
    /// `a < b`.
    Less,
    /// `a ≤ b`.
    LessEqual,
}

impl Cmp {
    /// All comparisons, in the order of declaration.
    pub const ALL: [Self; 6] = [
        Self::Equal,
        Self::NotEqual,
        Self::Greater,
        Self::GreaterEqual,
        Self::Less,
        Self::LessEqual,
    ];

    /// Name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Self::Equal => "eq",
            Self::NotEqual => "ne",
            Self::Greater => "gt",
            Self::GreaterEqual => "ge",
            Self::Less => "lt",
            Self::LessEqual => "le",
        }
    }
}
