//! The types of tensor values: a shape and an element type.

use std::fmt;

/// Element type of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DType {
    /// 32-bit float.
    F32,
    /// 32-bit integer: labels and indices.
    I32,
    /// Truth value: masks.
    Bool,
    /// 16-bit float with the exponents of `f32` and 8 significant bits.
    BF16,
    /// 16-bit float of IEEE 754, up to 65504 and with 11 significant bits.
    F16,
}

impl DType {
    /// Every element type.
    pub const ALL: [Self; 5] = [Self::F32, Self::I32, Self::Bool, Self::BF16, Self::F16];

    /// Name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::I32 => "i32",
            Self::Bool => "bool",
            Self::BF16 => "bf16",
            Self::F16 => "f16",
        }
    }

    /// Whether arithmetic is done on it: of the floats on `f32` alone.
    pub fn is_number(self) -> bool {
        matches!(self, Self::F32 | Self::I32)
    }

    /// Whether it is one of the 16-bit floats. Casts make them of `f32`, and only ops that move
    /// elements, matrix products and convolutions read them.
    pub fn is_short(self) -> bool {
        matches!(self, Self::BF16 | Self::F16)
    }
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
        Self::new(DType::F32, shape)
    }

    /// A tensor of any element type.
    pub fn new(dtype: DType, shape: impl Into<Vec<usize>>) -> Self {
        Self {
            dtype,
            shape: shape.into(),
        }
    }

    /// An integer tensor.
    pub fn i32(shape: impl Into<Vec<usize>>) -> Self {
        Self::new(DType::I32, shape)
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
        write!(f, "{}[", self.dtype.name())?;
        for (i, dim) in self.shape.iter().enumerate() {
            write!(f, "{}{dim}", if i == 0 { "" } else { "x" })?;
        }
        f.write_str("]")
    }
}
