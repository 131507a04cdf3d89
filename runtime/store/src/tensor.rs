//! Tensors as bytes.

use serde::{Deserialize, Serialize};

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum ElementType {
    /// 32-bit floats.
    F32,
    /// 32-bit signed integers.
    I32,
}

/// A tensor in memory or in a file: its elements in row-major order, as little-endian bytes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct TensorBytes {
    /// The type of the elements.
    pub element: ElementType,
    /// The lengths of the axes.
    pub shape: Vec<usize>,
    /// The elements; as many bytes as the type and the shape say.
    #[serde(with = "serde_bytes")]
    pub data: Vec<u8>,
}
