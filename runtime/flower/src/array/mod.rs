//! Tensors as Flower's parties exchange them: a type, a shape and bytes.

mod header;
mod npy;
mod objects;

use bytes::Bytes;
use thiserror::Error;

pub use header::HeaderError;
pub use npy::NpyError;
pub(crate) use npy::{decode, npy_header};
pub(crate) use objects::ArrayObjects;

/// The type of a tensor's elements. Flower writes types as NumPy names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dtype {
    /// `float32`.
    F32,
    /// `float64`.
    F64,
    /// `int32`.
    I32,
    /// `int64`.
    I64,
    /// `uint8`, also for data that only its sender and receiver understand.
    U8,
    /// `bool`, one byte an element.
    Bool,
}

impl Dtype {
    /// All types.
    pub const ALL: [Self; 6] = [
        Self::F32,
        Self::F64,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::Bool,
    ];

    /// The bytes of one element.
    pub fn size(self) -> usize {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
            Self::U8 | Self::Bool => 1,
        }
    }

    /// NumPy's name, such as `float32`.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "float32",
            Self::F64 => "float64",
            Self::I32 => "int32",
            Self::I64 => "int64",
            Self::U8 => "uint8",
            Self::Bool => "bool",
        }
    }

    /// NumPy's code with the order of bytes, such as `<f4`.
    fn code(self) -> &'static str {
        match self {
            Self::F32 => "<f4",
            Self::F64 => "<f8",
            Self::I32 => "<i4",
            Self::I64 => "<i8",
            Self::U8 => "|u1",
            Self::Bool => "|b1",
        }
    }
}

/// A tensor: elements in little-endian bytes, the last dimension varying fastest. Clones share
/// the bytes, and the objects of messages that are made of them when an array is first sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Bytes,
    objects: ArrayObjects,
}

impl Array {
    /// A tensor of these bytes. An empty shape is one number.
    ///
    /// # Errors
    ///
    /// [`ArrayError::Length`] if the shape needs another number of bytes, [`ArrayError::Shape`] if
    /// it needs more than a machine has, and [`ArrayError::Bool`] if a truth value is neither 0
    /// nor 1.
    pub fn new(
        dtype: Dtype,
        shape: Vec<usize>,
        bytes: impl Into<Bytes>,
    ) -> Result<Self, ArrayError> {
        let bytes = bytes.into();
        let Some(expected) = byte_count(dtype, &shape) else {
            return Err(ArrayError::Shape { dtype, shape });
        };
        if bytes.len() != expected {
            return Err(ArrayError::Length {
                dtype,
                shape,
                expected,
                found: bytes.len(),
            });
        }
        if dtype == Dtype::Bool
            && let Some((index, &value)) = bytes.iter().enumerate().find(|(_, byte)| **byte > 1)
        {
            return Err(ArrayError::Bool { index, value });
        }
        Ok(Self {
            dtype,
            shape,
            bytes,
            objects: ArrayObjects::default(),
        })
    }

    /// The objects of a message that the array is, once they were made.
    pub(crate) fn objects(&self) -> &ArrayObjects {
        &self.objects
    }

    /// The type of the elements.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The length of each dimension.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements, little-endian, the last dimension varying fastest.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

fn byte_count(dtype: Dtype, shape: &[usize]) -> Option<usize> {
    let count = shape.iter().try_fold(1_usize, |n, d| n.checked_mul(*d));
    count?.checked_mul(dtype.size())
}

/// A type, a shape and bytes that do not fit.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ArrayError {
    /// Another number of bytes than the shape needs.
    #[error("a {} array of shape {shape:?} has {expected} bytes, but {found} were given", dtype.name())]
    Length {
        /// The type of the elements.
        dtype: Dtype,
        /// The lengths of the dimensions.
        shape: Vec<usize>,
        /// The bytes that the shape needs.
        expected: usize,
        /// The bytes that were given.
        found: usize,
    },
    /// A size that no machine can address.
    #[error("the size of a {} array of shape {shape:?} overflows", dtype.name())]
    Shape {
        /// The type of the elements.
        dtype: Dtype,
        /// The lengths of the dimensions.
        shape: Vec<usize>,
    },
    /// A byte of a `bool` array that is neither 0 nor 1.
    #[error("element {index} of a bool array is {value}, expected 0 or 1")]
    Bool {
        /// The element, counted from 0.
        index: usize,
        /// Its byte.
        value: u8,
    },
}
