//! Products of rows: `C[i] (+)= alpha * sum_k A[i, k] B[k]`, where the rows of `B` and of `C` are
//! vectors and the factors `A[i, k]` are read in place, from `A` or from its transpose.
//!
//! Every value of `C` is summed in the order of `k`, in parts of [`DEPTH`] terms, whatever the tile
//! that it falls into.

use pulp::{Arch, Simd, WithSimd};

use crate::matrix::Matrix;
use crate::tile::{LANES, has_32_registers, most_rows, split};

/// Terms summed in registers before they are added to `C`: their part of a strip of `B` (24 KiB)
/// stays in the first-level cache while all rows of a group read it.
const DEPTH: usize = 128;

/// Rows of `A` that read one strip of `B` in turn.
const GROUP: usize = 128;

/// The same where `A` is read from its transpose: such products have few terms and many rows, and
/// `C` is what they stream, so its rows should be finished soon after one another.
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
    /// `m` by `n`, from the first value to the last.
    pub c: &'a mut [f32],
    /// Distance between the rows of `C`.
    pub pitch: usize,
    /// `m`, `k` and `n`, none of them 0.
    pub sizes: [usize; 3],
    /// Factor of the sums; 1 where they overwrite `C`.
    pub alpha: f32,
    /// Add to `C` instead of overwriting it.
    pub add: bool,
}

impl Product<'_> {
    /// Runs the product on the widest vectors the processor has.
    pub fn run(self) {
        let [m, _, n] = self.sizes;
        assert!(self.pitch >= n && self.c.len() >= (m - 1) * self.pitch + n);
        Arch::new().dispatch(self);
    }
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if self.sizes[2] < S::F32_LANES {
            self.narrow(simd);
        } else {
            self.wide(simd);
        }
    }
}

impl Product<'_> {
    /// Rows of at least one vector.
    #[inline(always)]
    fn wide<S: Simd>(self, simd: S) {
        let ([m, k, n], lanes) = (self.sizes, S::F32_LANES);
        let group = match self.a {
            Factors::Rows(_) => GROUP,
            Factors::Columns(_) => GROUP_OF_TRANSPOSE,
        };
        let most_vectors = if has_32_registers::<S>() { 3 } else { 2 };
        for first in (0..k).step_by(DEPTH) {
            for row in (0..m).step_by(group) {
                for (vector, count) in split(n.div_ceil(lanes), most_vectors) {
                    let end = n.min((vector + count) * lanes);
                    // A last part of a vector is the end of a whole one that overlaps values done
                    // already.
                    let start = (vector * lanes).min(end - lanes);
                    let mut strip = Strip::<S> {
                        a: self.a,
                        b: self.b.part(first, start),
                        terms: (first, DEPTH.min(k - first)),
                        c: &mut self.c[row * self.pitch + start..],
                        pitch: self.pitch,
                        alpha: simd.splat_f32s(self.alpha),
                        add: self.add || first > 0,
                        width: end - start,
                        fresh: end - (vector + count - 1) * lanes,
                    };
                    strip.run(simd, row, group.min(m - row), count);
                }
            }
        }
    }

    /// Rows shorter than a vector: those of `B` are filled up with zeros, and the sums go to a
    /// buffer first, where the end of each is overwritten by the next.
    #[inline(always)]
    fn narrow<S: Simd>(self, simd: S) {
        let ([m, k, n], lanes) = (self.sizes, S::F32_LANES);
        let mut packed = [0.0; DEPTH * LANES];
        let mut sums = [0.0; GROUP_OF_TRANSPOSE * LANES];
        for first in (0..k).step_by(DEPTH) {
            let depth = DEPTH.min(k - first);
            for (k, into) in packed.chunks_exact_mut(lanes).take(depth).enumerate() {
                for (into, value) in into.iter_mut().zip(self.b.row(first + k, n)) {
                    *into = *value;
                }
            }
            for row in (0..m).step_by(GROUP_OF_TRANSPOSE) {
                let rows = GROUP_OF_TRANSPOSE.min(m - row);
                let mut strip = Strip::<S> {
                    a: self.a,
                    b: Matrix {
                        values: &packed,
                        stride: lanes,
                    },
                    terms: (first, depth),
                    c: &mut sums,
                    pitch: n,
                    alpha: simd.splat_f32s(1.0),
                    add: false,
                    width: lanes,
                    fresh: lanes,
                };
                strip.run(simd, row, rows, 1);
                let add = self.add || first > 0;
                if self.pitch == n {
                    let c = &mut self.c[row * n..(row + rows) * n];
                    store(c, &sums[..rows * n], self.alpha, add);
                } else {
                    let c = self.c[row * self.pitch..].chunks_mut(self.pitch);
                    for (c, sums) in c.zip(sums.chunks_exact(n)).take(rows) {
                        store(&mut c[..n], sums, self.alpha, add);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn store(c: &mut [f32], sums: &[f32], alpha: f32, add: bool) {
    if add {
        for (c, sum) in c.iter_mut().zip(sums) {
            *c += alpha * sum;
        }
    } else {
        c.copy_from_slice(sums);
    }
}

/// Some vectors of every row, for a part of the terms.
struct Strip<'a, S: Simd> {
    a: Factors<'a>,
    b: Matrix<'a>,
    /// First term and number of terms.
    terms: (usize, usize),
    c: &'a mut [f32],
    pitch: usize,
    alpha: S::f32s,
    add: bool,
    /// Values of a row; its last vector ends there.
    width: usize,
    /// Values of the last vector that are not done already.
    fresh: usize,
}

impl<S: Simd> Strip<'_, S> {
    #[inline(always)]
    fn run(&mut self, simd: S, row: usize, rows: usize, vectors: usize) {
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
        // Never more, but the compiler cannot see that and would build what does not exist.
        if NV == 3 && !has_32_registers::<S>() {
            return;
        }
        for (start, count) in split(rows, most_rows::<S>()) {
            let at = (row + start, start);
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
        let (first, depth) = self.terms;
        let sums = match self.a {
            Factors::Rows(a) => {
                let rows: [&[f32]; MR] =
                    std::array::from_fn(|i| &a.values[(row + i) * a.stride + first..][..depth]);
                self.sums::<MR, NV, OVERLAPS>(
                    simd,
                    #[inline(always)]
                    |k| std::array::from_fn(|i| rows[i][k]),
                )
            }
            Factors::Columns(a) => {
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
        for i in 0..MR {
            let start = (into + i) * self.pitch;
            for j in 0..NV {
                let place = self.place::<NV, OVERLAPS>(j);
                let row = &mut self.c[start..start + len];
                let (c, _) = S::as_mut_simd_f32s(&mut row[place..][..S::F32_LANES]);
                if !self.add {
                    c[0] = sums[i][j];
                } else {
                    let value = simd.mul_add_f32s(self.alpha, sums[i][j], c[0]);
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
