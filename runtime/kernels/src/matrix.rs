//! Matrices as slices with a row stride.

use burn_backend::DType;
use burn_flex::FlexTensor;

/// A row-major matrix: row `i` starts at `i * stride`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matrix<'a> {
    /// Values from the first one on.
    pub values: &'a [f32],
    /// Distance between rows.
    pub stride: usize,
}

impl<'a> Matrix<'a> {
    /// The matrix from `(row, column)` on.
    #[inline(always)]
    pub fn part(self, row: usize, column: usize) -> Self {
        Self {
            values: &self.values[row * self.stride + column..],
            stride: self.stride,
        }
    }
}

/// How a tensor of two dimensions lies in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operand<'a> {
    /// Its rows are contiguous.
    Plain(Matrix<'a>),
    /// Its columns are: the matrix is its transpose.
    Transposed(Matrix<'a>),
}

impl<'a> Operand<'a> {
    /// The tensor's form, if it has two dimensions, neither of them empty, of `f32`, and contiguous
    /// rows or columns.
    pub fn of(tensor: &'a FlexTensor) -> Option<Self> {
        let layout = tensor.layout();
        let (&[rows, columns], &[down, right]) = (&layout.shape()[..], layout.strides()) else {
            return None;
        };
        if tensor.dtype() != DType::F32 || rows == 0 || columns == 0 {
            return None;
        }
        let values = tensor.storage::<f32>().get(layout.start_offset()..)?;
        let matrix = |lines: usize, len: usize, stride: isize, unit: isize| {
            let stride = if lines == 1 { len } else { stride.try_into().ok()? };
            let fits = stride >= len && (unit == 1 || len == 1);
            fits.then_some(Matrix { values, stride })
        };
        matrix(rows, columns, down, right)
            .map(Self::Plain)
            .or_else(|| matrix(columns, rows, right, down).map(Self::Transposed))
    }
}
