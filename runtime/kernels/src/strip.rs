//! The tiles of a product of rows.

use pulp::Simd;

use crate::matrix::{Matrix, Operand};
use crate::simd::{LINE, PAGE, prefetch};
use crate::tile::{LANES, has_32_registers, most_rows, split};

/// The largest number of rows of `A` that are read at a time. There is a pointer for each row, and more
/// pointers do not fit in the general registers, which makes a tile a quarter slower.
const MOST_POINTERS: usize = 7;

/// Some vectors of every row, for a part of the terms.
pub(crate) struct Strip<'a, S: Simd> {
    pub a: Operand<'a>,
    pub b: Matrix<'a>,
    /// First term and number of terms.
    pub terms: (usize, usize),
    pub c: &'a mut [f32],
    pub pitch: usize,
    pub alpha: S::f32s,
    pub add: bool,
    /// Values of a row; its last vector ends there.
    pub width: usize,
    /// Values of the last vector that are not done already.
    pub fresh: usize,
    /// The strip of `b` that is next, if its lines should be asked for.
    pub next: &'a [f32],
    /// Whether the lines of the next rows of `a` should be asked for.
    pub asks_for_rows: bool,
}

impl<S: Simd> Strip<'_, S> {
    #[inline(always)]
    pub fn run(&mut self, simd: S, row: usize, rows: usize, vectors: usize) {
        let overlaps = self.fresh != S::F32_LANES;
        match (vectors, overlaps) {
            (1, false) => self.blocks::<1, false>(simd, row, rows),
            (1, true) => self.blocks::<1, true>(simd, row, rows),
            (2, false) => self.blocks::<2, false>(simd, row, rows),
            (2, true) => self.blocks::<2, true>(simd, row, rows),
            (_, false) => self.blocks::<3, false>(simd, row, rows),
            (_, true) => self.blocks::<3, true>(simd, row, rows),
        }
    }

    /// All rows of the strip.
    #[inline(always)]
    fn blocks<const NV: usize, const OVERLAPS: bool>(&mut self, simd: S, row: usize, rows: usize) {
        // There are never more vectors, but the compiler cannot see that and would generate the code.
        if NV == 3 && !has_32_registers::<S>() {
            return;
        }
        let most = match self.a {
            Operand::Plain(_) => most_rows::<S>().min(MOST_POINTERS),
            Operand::Transposed(_) => most_rows::<S>(),
        };
        let asks = self.asks_for_rows || !self.next.is_empty();
        for (i, (start, count)) in split(rows, most).enumerate() {
            let at = (row + start, start);
            if asks {
                self.ask((i, rows.div_ceil(most)), row + start + count, count);
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

    /// `MR` rows by `NV` vectors.
    #[inline(always)]
    fn block<const MR: usize, const NV: usize, const OVERLAPS: bool>(
        &mut self,
        simd: S,
        (row, into): (usize, usize),
    ) {
        // Without vectors, blocks have few rows and nothing overlaps, which the compiler cannot see either.
        if S::F32_LANES == 1 && (MR > most_rows::<S>() || OVERLAPS) {
            return;
        }
        let (first, depth) = self.terms;
        if self.pitch >= PAGE {
            for i in 0..MR {
                for j in 0..NV {
                    let place = self.place::<NV, OVERLAPS>(j);
                    prefetch(self.c, (into + i) * self.pitch + place);
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
        self.store::<MR, NV, OVERLAPS>(simd, into, sums);
    }

    /// Asks for what comes next: the share that one of so many blocks has in the next strip of `b`, and some rows
    /// of `a`.
    ///
    /// It is not inlined, because every form of a tile would have a copy.
    #[inline(never)]
    fn ask(&self, (block, of): (usize, usize), row: usize, rows: usize) {
        let (first, depth) = self.terms;
        for k in block * depth / of..(block + 1) * depth / of {
            for value in (0..self.width).step_by(LINE) {
                prefetch(self.next, k * self.b.stride + value);
            }
        }
        if let (true, Operand::Plain(a)) = (self.asks_for_rows, self.a) {
            for row in row..row + rows {
                for value in (0..depth).step_by(LINE) {
                    prefetch(a.values, row * a.stride + first + value);
                }
            }
        }
    }

    /// Where vector `j` of `NV` starts.
    #[inline(always)]
    fn place<const NV: usize, const OVERLAPS: bool>(&self, j: usize) -> usize {
        if OVERLAPS && j + 1 == NV {
            self.width - S::F32_LANES
        } else {
            j * S::F32_LANES
        }
    }

    /// Length of a row, a constant where it can be.
    #[inline(always)]
    fn row_len<const NV: usize, const OVERLAPS: bool>(&self) -> usize {
        if OVERLAPS {
            self.width
        } else {
            NV * S::F32_LANES
        }
    }

    /// The sums of a tile, kept in registers over all terms.
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
                std::array::from_fn(|j| vector::<S>(&row[self.place::<NV, OVERLAPS>(j)..]));
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

    #[inline(always)]
    fn store<const MR: usize, const NV: usize, const OVERLAPS: bool>(
        &mut self,
        simd: S,
        into: usize,
        sums: [[S::f32s; NV]; MR],
    ) {
        let len = self.row_len::<NV, OVERLAPS>();
        let done = S::F32_LANES - self.fresh;
        for (i, sums) in sums.iter().enumerate() {
            let start = (into + i) * self.pitch;
            for (j, sum) in sums.iter().enumerate() {
                let place = self.place::<NV, OVERLAPS>(j);
                let row = &mut self.c[start..start + len];
                let (c, _) = S::as_mut_simd_f32s(&mut row[place..][..S::F32_LANES]);
                if !self.add {
                    c[0] = *sum;
                } else {
                    // Rounded twice, as where the product and the sum are two steps.
                    let value = simd.add_f32s(c[0], simd.mul_f32s(self.alpha, *sum));
                    c[0] = if OVERLAPS && j + 1 == NV {
                        from_lane(simd, done, value, c[0])
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

/// `before` in the lanes before `lane`, `from` in the others.
#[inline(always)]
fn from_lane<S: Simd>(simd: S, lane: usize, from: S::f32s, before: S::f32s) -> S::f32s {
    let lanes = vector::<S>(&LANE_NUMBERS);
    let mask = simd.less_than_f32s(lanes, simd.splat_f32s(lane as f32));
    simd.select_f32s(mask, before, from)
}

/// The numbers of the lanes.
const LANE_NUMBERS: [f32; LANES] = [
    0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0,
];
