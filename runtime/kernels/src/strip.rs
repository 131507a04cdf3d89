//! The inner loops of a matrix product: a strip of columns, block of rows by block of rows. See
//! [`product`](crate::product).

use pulp::Simd;

use crate::matrix::{Matrix, Operand};
use crate::simd::{LINE, PAGE, prefetch};
use crate::tile::{LANES, has_32_registers, max_rows, split};

/// The largest number of rows of `A` that a tile reads. Each row needs a pointer, and more pointers do not fit in the
/// general registers, which makes a tile a quarter slower.
const MAX_ROW_POINTERS: usize = 7;

/// A strip: 1 to 3 vectors of the columns of `C`, for a part of the terms.
pub(crate) struct Strip<'a, S: Simd> {
    /// All rows and terms of the left operand.
    pub a: Operand<'a>,
    /// The right operand, from the first term and the first column of the strip on.
    pub b: Matrix<'a>,
    /// The first term, and the number of terms.
    pub terms: (usize, usize),
    /// The result, from the first row of the group and the first column of the strip on.
    pub c: &'a mut [f32],
    /// The distance between the rows of `C`.
    pub pitch: usize,
    pub alpha: S::f32s,
    pub add: bool,
    /// The number of columns of the strip. The last vector ends with the last column.
    pub width: usize,
    /// The number of values at the end of the last vector that no other vector has computed. It is the number of lanes
    /// if the last vector overlaps no other one.
    pub last_vector_values: usize,
    /// The values of `b` that the next strip reads, to be prefetched; empty to prefetch none.
    pub next_b: &'a [f32],
    /// Whether to prefetch the next rows of `a`.
    pub prefetch_rows: bool,
}

impl<S: Simd> Strip<'_, S> {
    /// Computes `rows` rows of the strip, from row `row` of `A` on. The strip has `vectors` vectors.
    #[inline(always)]
    pub fn run(&mut self, simd: S, row: usize, rows: usize, vectors: usize) {
        let overlaps = self.last_vector_values != S::F32_LANES;
        match (vectors, overlaps) {
            (1, false) => self.blocks::<1, false>(simd, row, rows),
            (1, true) => self.blocks::<1, true>(simd, row, rows),
            (2, false) => self.blocks::<2, false>(simd, row, rows),
            (2, true) => self.blocks::<2, true>(simd, row, rows),
            (_, false) => self.blocks::<3, false>(simd, row, rows),
            (_, true) => self.blocks::<3, true>(simd, row, rows),
        }
    }

    /// Computes all rows of a strip of `NV` vectors. `OVERLAPS` says that the last vector overlaps another one.
    #[inline(always)]
    fn blocks<const NV: usize, const OVERLAPS: bool>(&mut self, simd: S, row: usize, rows: usize) {
        // Without 32 registers there are at most 2 vectors, but the compiler cannot see that and would generate the
        // code.
        if NV == 3 && !has_32_registers::<S>() {
            return;
        }
        let max_rows = match self.a {
            Operand::Plain(_) => max_rows::<S>().min(MAX_ROW_POINTERS),
            Operand::Transposed(_) => max_rows::<S>(),
        };
        let prefetches = self.prefetch_rows || !self.next_b.is_empty();
        for (i, (start, count)) in split(rows, max_rows).enumerate() {
            let at = (row + start, start);
            if prefetches {
                let share = (i, rows.div_ceil(max_rows));
                self.prefetch_next(share, row + start + count, count);
            }
            match count {
                1 => self.block::<1, NV, OVERLAPS>(simd, at),
                2 => self.block::<2, NV, OVERLAPS>(simd, at),
                3 => self.block::<3, NV, OVERLAPS>(simd, at),
                4 => self.block::<4, NV, OVERLAPS>(simd, at),
                5 => self.block::<5, NV, OVERLAPS>(simd, at),
                6 => self.block::<6, NV, OVERLAPS>(simd, at),
                7 => self.block::<7, NV, OVERLAPS>(simd, at),
                _ => self.block::<8, NV, OVERLAPS>(simd, at),
            }
        }
    }

    /// Computes a tile of `MR` rows by `NV` vectors. `row` is its first row in `A`, and `c_row` its first row in `c`.
    #[inline(always)]
    fn block<const MR: usize, const NV: usize, const OVERLAPS: bool>(
        &mut self,
        simd: S,
        (row, c_row): (usize, usize),
    ) {
        // Without vectors, blocks have few rows and nothing overlaps. The compiler cannot see that either.
        if S::F32_LANES == 1 && (MR > max_rows::<S>() || OVERLAPS) {
            return;
        }
        let (first, depth) = self.terms;
        if self.pitch >= PAGE {
            for i in 0..MR {
                for j in 0..NV {
                    let column = self.vector_start::<NV, OVERLAPS>(j);
                    prefetch(self.c, (c_row + i) * self.pitch + column);
                }
            }
        }
        let sums = match self.a {
            Operand::Plain(a) => {
                let rows: [&[f32]; MR] =
                    std::array::from_fn(|i| &a.values[(row + i) * a.stride + first..][..depth]);
                self.sums::<MR, NV, OVERLAPS>(
                    simd,
                    #[inline(always)]
                    |k| std::array::from_fn(|i| rows[i][k]),
                )
            }
            Operand::Transposed(a) => {
                let a = a.part(first, row);
                self.sums::<MR, NV, OVERLAPS>(
                    simd,
                    #[inline(always)]
                    |k| {
                        let factors = &a.values[k * a.stride..][..MR];
                        std::array::from_fn(|i| factors[i])
                    },
                )
            }
        };
        self.store::<MR, NV, OVERLAPS>(simd, c_row, sums);
    }

    /// Prefetches values that are read later: one share of the next strip of `b`, and the `rows` rows of `a` from `row`
    /// on. The blocks of this strip share the next one; `block` is the number of this block, out of `blocks`.
    ///
    /// It is not inlined, because every size of a tile would have a copy.
    #[inline(never)]
    fn prefetch_next(&self, (block, blocks): (usize, usize), row: usize, rows: usize) {
        let (first, depth) = self.terms;
        for k in block * depth / blocks..(block + 1) * depth / blocks {
            for value in (0..self.width).step_by(LINE) {
                prefetch(self.next_b, k * self.b.stride + value);
            }
        }
        if let (true, Operand::Plain(a)) = (self.prefetch_rows, self.a) {
            for row in row..row + rows {
                for value in (0..depth).step_by(LINE) {
                    prefetch(a.values, row * a.stride + first + value);
                }
            }
        }
    }

    /// The column at which vector `j` of `NV` starts.
    #[inline(always)]
    fn vector_start<const NV: usize, const OVERLAPS: bool>(&self, j: usize) -> usize {
        if OVERLAPS && j + 1 == NV {
            self.width - S::F32_LANES
        } else {
            j * S::F32_LANES
        }
    }

    /// The number of columns of the strip, as a constant if no vector overlaps.
    #[inline(always)]
    fn row_len<const NV: usize, const OVERLAPS: bool>(&self) -> usize {
        if OVERLAPS {
            self.width
        } else {
            NV * S::F32_LANES
        }
    }

    /// The sums of a tile. They stay in registers over all terms. `factors(k)` gives the factors of the rows.
    #[inline(always)]
    fn sums<const MR: usize, const NV: usize, const OVERLAPS: bool>(
        &self,
        simd: S,
        factors: impl Fn(usize) -> [f32; MR],
    ) -> [[S::f32s; NV]; MR] {
        let len = self.row_len::<NV, OVERLAPS>();
        let (values, stride) = (self.b.values, self.b.stride);
        let mut acc = [[simd.splat_f32s(0.0); NV]; MR];
        let mut start = 0;
        for k in 0..self.terms.1 {
            let row = &values[start..start + len];
            start += stride;
            let b: [S::f32s; NV] =
                std::array::from_fn(|j| vector::<S>(&row[self.vector_start::<NV, OVERLAPS>(j)..]));
            let a = factors(k);
            for i in 0..MR {
                let a = simd.splat_f32s(a[i]);
                for j in 0..NV {
                    acc[i][j] = simd.mul_add_f32s(a, b[j], acc[i][j]);
                }
            }
        }
        acc
    }

    /// Writes the sums of a tile to `c`, or adds them times `alpha`.
    #[inline(always)]
    fn store<const MR: usize, const NV: usize, const OVERLAPS: bool>(
        &mut self,
        simd: S,
        c_row: usize,
        sums: [[S::f32s; NV]; MR],
    ) {
        let len = self.row_len::<NV, OVERLAPS>();
        let overlap = S::F32_LANES - self.last_vector_values;
        for (i, sums) in sums.iter().enumerate() {
            let start = (c_row + i) * self.pitch;
            for (j, sum) in sums.iter().enumerate() {
                let column = self.vector_start::<NV, OVERLAPS>(j);
                let row = &mut self.c[start..start + len];
                let (c, _) = S::as_mut_simd_f32s(&mut row[column..][..S::F32_LANES]);
                if !self.add {
                    c[0] = *sum;
                } else {
                    // The product and the sum are rounded separately, so that the result equals that of two steps.
                    let value = simd.add_f32s(c[0], simd.mul_f32s(self.alpha, *sum));
                    // The overlapping values have been added already.
                    c[0] = if OVERLAPS && j + 1 == NV {
                        select_from_lane(simd, overlap, value, c[0])
                    } else {
                        value
                    };
                }
            }
        }
    }
}

/// The first vector of `values`.
#[inline(always)]
fn vector<S: Simd>(values: &[f32]) -> S::f32s {
    S::as_simd_f32s(&values[..S::F32_LANES]).0[0]
}

/// A vector with the values of `before` in the lanes before `lane`, and those of `from` in the others.
#[inline(always)]
fn select_from_lane<S: Simd>(simd: S, lane: usize, from: S::f32s, before: S::f32s) -> S::f32s {
    let lanes = vector::<S>(&LANE_NUMBERS);
    let mask = simd.less_than_f32s(lanes, simd.splat_f32s(lane as f32));
    simd.select_f32s(mask, before, from)
}

/// The number of each lane.
const LANE_NUMBERS: [f32; LANES] = [
    0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0,
];
