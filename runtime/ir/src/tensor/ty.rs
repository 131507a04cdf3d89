//! Types of values.

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
}

impl DType {
    /// Every element type.
    pub const ALL: [Self; 3] = [Self::F32, Self::I32, Self::Bool];

    /// Name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::I32 => "i32",
            Self::Bool => "bool",
        }
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
        Self {
            dtype: DType::F32,
            shape: shape.into(),
        }
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
        write!(f, "{}[", self.dtype.name())?;
        for (i, dim) in self.shape.iter().enumerate() {
            write!(f, "{}{dim}", if i == 0 { "" } else { "x" })?;
        }
        f.write_str("]")
    }
}
