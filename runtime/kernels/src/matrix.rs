//! Matrices as slices with a row stride, and the operands of matrix products.

use burn_backend::DType;
use burn_flex::FlexTensor;

use crate::simd::vectorize;

/// A row-major matrix: row `i` starts at `i * stride`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matrix<'a> {
    /// The values, beginning with the first one of the matrix.
    pub values: &'a [f32],
    /// The distance between rows.
    pub stride: usize,
}

impl<'a> Matrix<'a> {
    /// The part of the matrix from `(row, column)` on.
    #[inline(always)]
    pub fn part(self, row: usize, column: usize) -> Self {
        Self {
            values: &self.values[row * self.stride + column..],
            stride: self.stride,
        }
    }

    /// The first `len` values of a row.
    #[inline(always)]
    pub fn row(self, row: usize, len: usize) -> &'a [f32] {
        &self.values[row * self.stride..][..len]
    }

    /// Writes the transpose of the first `rows` by `columns` values. Value `(i, j)` goes to `into[j * pitch + i]`.
    pub fn transpose_into(self, [rows, columns]: [usize; 2], into: &mut [f32], pitch: usize) {
        vectorize(
            #[inline(always)]
            || {
                // Sixteen rows at a time, because sixteen values are written as one vector and fill a cache line.
                // Then eight, if so many are left, and the rest one by one.
                let (sixteens, eights) = (rows - rows % 16, rows - rows % 8);
                for row in (0..sixteens).step_by(16) {
                    self.transpose_rows::<16>(row, columns, into, pitch);
                }
                if sixteens < eights {
                    self.transpose_rows::<8>(sixteens, columns, into, pitch);
                }
                for row in eights..rows {
                    for (value, into) in self.row(row, columns).iter().zip(into.chunks_mut(pitch)) {
                        into[row] = *value;
                    }
                }
            },
        );
    }

    /// Transposes `N` rows, from `row` on.
    #[inline(always)]
    fn transpose_rows<const N: usize>(
        self,
        row: usize,
        columns: usize,
        into: &mut [f32],
        pitch: usize,
    ) {
        let from: [&[f32]; N] = std::array::from_fn(|i| self.row(row + i, columns));
        for (j, into) in into.chunks_mut(pitch).take(columns).enumerate() {
            if let Some(into) = into[row..].first_chunk_mut::<N>() {
                *into = std::array::from_fn(|i| from[i][j]);
            }
        }
    }
}

/// An operand `A` of a matrix product, in the layout of its tensor.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operand<'a> {
    /// Rows are contiguous: `A[i, k]` is value `k` of row `i` of the matrix.
    Plain(Matrix<'a>),
    /// Columns are contiguous: `A[i, k]` is value `i` of row `k` of the matrix.
    Transposed(Matrix<'a>),
}

impl<'a> Operand<'a> {
    /// The rows of the operand from `row` on.
    pub fn rows_from(self, row: usize) -> Self {
        match self {
            Self::Plain(matrix) => Self::Plain(matrix.part(row, 0)),
            Self::Transposed(matrix) => Self::Transposed(matrix.part(0, row)),
        }
    }

    /// A tensor of two dimensions as an operand. `None` if it has another number of dimensions, is empty, is not of
    /// `f32`, or has neither contiguous rows nor contiguous columns.
    pub fn of(tensor: &'a FlexTensor) -> Option<Self> {
        (tensor.layout().num_dims() == 2).then(|| Self::at(tensor, 0))?
    }

    /// The last two dimensions of a tensor as an operand, `offset` values after the start of the tensor. `None` as for
    /// [`of`](Self::of).
    pub fn at(tensor: &'a FlexTensor, offset: usize) -> Option<Self> {
        let layout = tensor.layout();
        let (&[.., rows, columns], &[.., row_stride, column_stride]) =
            (&layout.shape()[..], layout.strides())
        else {
            return None;
        };
        if tensor.dtype() != DType::F32 || rows == 0 || columns == 0 {
            return None;
        }
        let start = layout.start_offset() + offset;
        let values = tensor.storage::<f32>().get(start..)?;
        // A matrix of `lines` lines of `len` values, if the values of a line are contiguous. The stride of a single
        // line does not matter.
        let matrix = |lines: usize, len: usize, line_stride: isize, value_stride: isize| {
            let stride = if lines == 1 {
                len
            } else {
                line_stride.try_into().ok()?
            };
            let is_contiguous = stride >= len && (value_stride == 1 || len == 1);
            is_contiguous.then_some(Matrix { values, stride })
        };
        matrix(rows, columns, row_stride, column_stride)
            .map(Self::Plain)
            .or_else(|| matrix(columns, rows, column_stride, row_stride).map(Self::Transposed))
    }
}
