//! The form of tensors as bytes, with their names, types and shapes.

use bytemuck::{AnyBitPattern, NoUninit};
use serde::{Deserialize, Serialize};

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum ElementType {
    /// 32-bit floats.
    F32,
    /// 32-bit signed integers.
    I32,
    /// 64-bit floats.
    F64,
}

impl ElementType {
    /// Bytes of an element.
    pub fn size(self) -> usize {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F64 => 8,
        }
    }
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

impl TensorBytes {
    /// Floats in row-major order.
    pub fn of_floats(values: &[f32], shape: &[usize]) -> Self {
        Self {
            element: ElementType::F32,
            shape: shape.to_vec(),
            data: little_endian(values, f32::to_le_bytes),
        }
    }

    /// Integers in row-major order.
    pub fn of_ints(values: &[i32], shape: &[usize]) -> Self {
        Self {
            element: ElementType::I32,
            shape: shape.to_vec(),
            data: little_endian(values, i32::to_le_bytes),
        }
    }

    /// 64-bit floats in row-major order.
    pub fn of_doubles(values: &[f64], shape: &[usize]) -> Self {
        Self {
            element: ElementType::F64,
            shape: shape.to_vec(),
            data: little_endian(values, f64::to_le_bytes),
        }
    }

    /// The floats; `None` of integers, or if the shape has not as many elements.
    pub fn floats(&self) -> Option<Vec<f32>> {
        self.words(ElementType::F32, f32::from_le_bytes)
    }

    /// The integers; `None` of floats, or if the shape has not as many elements.
    pub fn ints(&self) -> Option<Vec<i32>> {
        self.words(ElementType::I32, i32::from_le_bytes)
    }

    /// The 64-bit floats; `None` of others, or if the shape has not as many elements.
    pub fn doubles(&self) -> Option<Vec<f64>> {
        self.words(ElementType::F64, f64::from_le_bytes)
    }

    fn words<const N: usize, T: AnyBitPattern + NoUninit>(
        &self,
        element: ElementType,
        word: impl Fn([u8; N]) -> T,
    ) -> Option<Vec<T>> {
        let mut axes = self.shape.iter();
        let bytes = axes.try_fold(N, |n: usize, axis| n.checked_mul(*axis))?;
        if self.element != element || bytes != self.data.len() {
            return None;
        }
        if cfg!(target_endian = "little") {
            return Some(bytemuck::pod_collect_to_vec(&self.data));
        }
        let (words, _) = self.data.as_chunks::<N>();
        Some(words.iter().map(|bytes| word(*bytes)).collect())
    }
}

/// The bytes of numbers, of which `bytes` gives those of one.
fn little_endian<const N: usize, T: NoUninit>(values: &[T], bytes: fn(T) -> [u8; N]) -> Vec<u8> {
    if cfg!(target_endian = "little") {
        return bytemuck::cast_slice(values).to_vec();
    }
    values.iter().flat_map(|x| bytes(*x)).collect()
}
