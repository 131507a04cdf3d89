//! Products of rows: `C[i] (+)= alpha * sum_k A[i, k] B[k]`, where the rows of `B` and of `C` are
//! vectors and the factors `A[i, k]` are read in place, from `A` or from its transpose.
//!
//! Every value of `C` is summed in the order of `k`, in parts of [`DEPTH`] terms, whatever the tile
//! that it falls into.

use pulp::{Arch, Simd, WithSimd};

use crate::matrix::Matrix;
use crate::tile::{has_32_registers, split};

/// Terms summed in registers before they are added to `C`: their part of a strip of `B` (24 KiB)
/// stays in the first-level cache while all rows of a group read it.
const DEPTH: usize = 128;

/// Most vectors of a row in one tile.
const VECTORS: usize = 3;

/// Rows of `A` that read one strip of `B` in turn.
const GROUP: usize = 128;

/// The same where `A` is read from its transpose: such products have few terms and many rows, and
/// `C` is what they stream, so that its rows should be finished one after the other.
const GROUP_OF_TRANSPOSE: usize = 48;

/// The factors of a product.
#[derive(Clone, Copy)]
pub(crate) enum Factors<'a> {
    /// `A[i, k]` is value `k` of row `i`.
    Rows(Matrix<'a>),
    /// `A[i, k]` is value `i` of row `k`.
    Columns(Matrix<'a>),
}

/// One product.
pub(crate) struct Product<'a> {
    /// The factors, `m` by `k`.
    pub a: Factors<'a>,
    /// `k` by `n`.
    pub b: Matrix<'a>,
    /// `[m][n]`.
    pub c: &'a mut [f32],
    /// Rows, terms and columns.
    pub sizes: [usize; 3],
    /// Factor of the sums that are added to `C`.
    pub alpha: f32,
    /// Add to `C` instead of overwriting it.
    pub add: bool,
    /// Room for a packed strip of `B`, [`PACKED`] values, or none to read it in place.
    pub packed: &'a mut [f32],
}

/// Values of a packed strip, for the widest vectors.
pub(crate) const PACKED: usize = DEPTH * VECTORS * 16;

impl Product<'_> {
    /// Runs the product on the widest vectors the processor has.
    pub fn run(self) {
        let [m, _, n] = self.sizes;
        assert!(self.c.len() == m * n && n > 0);
        Arch::new().dispatch(self);
    }
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let [m, k, n] = self.sizes;
        let group = match self.a {
            Factors::Rows(_) => GROUP,
            Factors::Columns(_) => GROUP_OF_TRANSPOSE,
        };
        let most_rows = if has_32_registers::<S>() { 8 } else { 6 };
        let strip = if has_32_registers::<S>() { 3 } else { 2 } * S::F32_LANES;
        for first in (0..k).step_by(DEPTH) {
            let depth = DEPTH.min(k - first);
            for row in (0..m).step_by(group) {
                let rows = group.min(m - row);
                for column in (0..n).step_by(strip) {
                    let width = strip.min(n - column);
                    let mut b = self.b.part(first, column);
                    if !self.packed.is_empty() {
                        let into = self.packed.chunks_exact_mut(strip);
                        for (k, into) in into.take(depth).enumerate() {
                            into[..width].copy_from_slice(&b.values[k * b.stride..][..width]);
                        }
                        b = Matrix {
                            values: &*self.packed,
                            stride: strip,
                        };
                    }
                    let part = Strip {
                        a: self.a,
                        first,
                        depth,
                        b,
                        c: &mut self.c[row * n + column..],
                        pitch: n,
                        alpha: simd.splat_f32s(self.alpha),
                        add: self.add || first > 0,
                        width,
                    };
                    part.run(simd, row, rows, most_rows);
                }
            }
        }
    }
}

/// A part of the columns for a part of the terms.
struct Strip<'a, S: Simd> {
    a: Factors<'a>,
    first: usize,
    depth: usize,
    b: Matrix<'a>,
    c: &'a mut [f32],
    pitch: usize,
    alpha: S::f32s,
    add: bool,
    width: usize,
}

impl<S: Simd> Strip<'_, S> {
    #[inline(always)]
    fn run(self, simd: S, row: usize, rows: usize, most: usize) {
        let whole = self.width.is_multiple_of(S::F32_LANES);
        match (self.width.div_ceil(S::F32_LANES), whole) {
            (1, true) => self.blocks::<1, false>(simd, row, rows, most),
            (1, false) => self.blocks::<1, true>(simd, row, rows, most),
            (2, true) => self.blocks::<2, false>(simd, row, rows, most),
            (2, false) => self.blocks::<2, true>(simd, row, rows, most),
            (_, true) => self.blocks::<3, false>(simd, row, rows, most),
            (_, false) => self.blocks::<3, true>(simd, row, rows, most),
        }
    }

    #[inline(always)]
    fn blocks<const NV: usize, const TAIL: bool>(
        mut self,
        simd: S,
        row: usize,
        rows: usize,
        most: usize,
    ) {
        if !has_32_registers::<S>() && NV > 2 {
            return;
        }
        for (start, count) in split(rows, most) {
            let at = (row + start, start);
            match count {
                1 => self.block::<1, NV, TAIL>(simd, at),
                2 => self.block::<2, NV, TAIL>(simd, at),
                3 => self.block::<3, NV, TAIL>(simd, at),
                4 => self.block::<4, NV, TAIL>(simd, at),
                5 => self.block::<5, NV, TAIL>(simd, at),
                6 => self.block::<6, NV, TAIL>(simd, at),
                7 => self.block::<7, NV, TAIL>(simd, at),
                _ => self.block::<8, NV, TAIL>(simd, at),
            }
        }
    }

    /// `MR` rows by `NV` vectors, the last one partial if `TAIL`.
    #[inline(always)]
    fn block<const MR: usize, const NV: usize, const TAIL: bool>(
        &mut self,
        simd: S,
        (row, into): (usize, usize),
    ) {
        let (first, depth) = (self.first, self.depth);
        let sums = match self.a {
            Factors::Rows(a) => {
                let rows: [&[f32]; MR] =
                    std::array::from_fn(|i| &a.values[(row + i) * a.stride + first..][..depth]);
                self.tile::<MR, NV, TAIL>(
                    simd,
                    #[inline(always)]
                    |k| std::array::from_fn(|i| rows[i][k]),
                )
            }
            Factors::Columns(a) => {
                let a = a.part(first, row);
                self.tile::<MR, NV, TAIL>(
                    simd,
                    #[inline(always)]
                    |k| {
                        let factors = &a.values[k * a.stride..][..MR];
                        std::array::from_fn(|i| factors[i])
                    },
                )
            }
        };
        let lanes = S::F32_LANES;
        for (i, sums) in sums.iter().enumerate() {
            let c = &mut self.c[(into + i) * self.pitch..][..self.width];
            for (j, sum) in sums.iter().enumerate() {
                if TAIL && j + 1 == NV {
                    let c = &mut c[j * lanes..];
                    let value = if self.add {
                        simd.mul_add_f32s(self.alpha, *sum, simd.partial_load_f32s(c))
                    } else {
                        *sum
                    };
                    simd.partial_store_f32s(c, value);
                } else {
                    let (c, _) = S::as_mut_simd_f32s(&mut c[j * lanes..(j + 1) * lanes]);
                    c[0] = if self.add {
                        simd.mul_add_f32s(self.alpha, *sum, c[0])
                    } else {
                        *sum
                    };
                }
            }
        }
    }

    /// The sums of a tile.
    #[inline(always)]
    fn tile<const MR: usize, const NV: usize, const TAIL: bool>(
        &self,
        simd: S,
        factors: impl Fn(usize) -> [f32; MR],
    ) -> [[S::f32s; NV]; MR] {
        let lanes = S::F32_LANES;
        let width = self.width;
        let mut acc = [[simd.splat_f32s(0.0); NV]; MR];
        let mut start = 0;
        for k in 0..self.depth {
            let row = &self.b.values[start..start + width];
            start += self.b.stride;
            let b: [S::f32s; NV] = std::array::from_fn(|j| {
                if TAIL && j + 1 == NV {
                    simd.partial_load_f32s(&row[j * lanes..])
                } else {
                    S::as_simd_f32s(&row[j * lanes..(j + 1) * lanes]).0[0]
                }
            });
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
}
