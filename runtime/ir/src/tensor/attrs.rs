//! What ops carry besides operands.

use std::sync::Arc;

use super::{Op, TensorType};

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

/// A tensor whose values are known when the graph is built.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Element type and shape.
    pub ty: TensorType,
    /// One value for each element, row-major; integers and truth values are whole.
    pub values: Arc<[f64]>,
}

/// Where random numbers come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Uniform in `[low, high)`.
    Uniform(f64, f64),
    /// Normal with this mean and standard deviation.
    Normal(f64, f64),
    /// 1 with this probability, else 0.
    Bernoulli(f64),
}

/// An order between two elements.
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
    /// All, in the order of declaration.
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

/// A straight line of elementwise ops over one shape, computed in one pass over memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Fused {
    /// Shape of every step's result; operands broadcast to it.
    pub shape: Vec<usize>,
    /// Elementwise ops with the values that they read: values number the operands first, then the
    /// steps.
    pub steps: Vec<(Op, Vec<usize>)>,
    /// Values that are results.
    pub outputs: Vec<usize>,
    /// Values whose sums over all elements are results, after the outputs.
    pub sums: Vec<usize>,
}

impl Fused {
    /// Whether the steps are elementwise, read what is there, and give floats as results.
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
            && self.outputs.iter().chain(&self.sums).all(float)
            && self.outputs.len() + self.sums.len() > 0
    }
}
