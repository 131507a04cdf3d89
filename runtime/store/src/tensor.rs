//! Tensors as bytes.

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// 32-bit floats.
    F32,
    /// 32-bit signed integers.
    I32,
}

/// A tensor in memory or in a file: its elements in row-major order, as little-endian bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorBytes {
    /// The type of the elements.
    pub element: ElementType,
    /// The lengths of the axes.
    pub shape: Vec<usize>,
    /// The elements; as many bytes as the type and the shape say.
    pub data: Vec<u8>,
}
