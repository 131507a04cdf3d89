//! Matrix products without packing: `C[i] (+)= alpha * sum_k A[i, k] B[k]`, where the rows of `B` and of `C` are
//! vectors. The factors `A[i, k]` are read in place, from `A` or from its transpose.
//!
//! Loop order, from outside: [`DEPTH`] terms at a time, a group of rows of `A`, a strip of columns, blocks of rows,
//! terms. A *strip* is `DEPTH` rows of `B` by 3 (or 2) vectors. It stays in the first-level cache while all rows of
//! the group read it. A tile, some rows of `C` by the vectors of the strip, stays in registers over its terms
//! ([`Strip`]).
//!
//! Every value of `C` is summed in the order of `k`, in parts of `DEPTH` terms, whatever the tile that it falls into.
//!
//! If rows are as long as a page of memory, every row of a tile is in another page, so the processor's prefetcher does
//! not help. A strip then prefetches the values that the next one needs.

use pulp::{Arch, Simd, WithSimd};

use crate::matrix::{Matrix, Operand};
use crate::simd::PAGE;
use crate::strip::Strip;
use crate::tile::{LANES, has_32_registers, split};

/// The number of terms that are summed in registers before the sums are added to `C`. A strip of `B` of so many rows
/// (24 KiB) stays in the first-level cache.
const DEPTH: usize = 128;

/// The number of rows of `A` that read one strip of `B` before the next strip.
const GROUP: usize = 128;

/// The same if `A` is read from its transpose. Such products have few terms and many rows. They stream `C` through
/// the caches, so the columns of a row should be finished soon after one another.
const GROUP_OF_TRANSPOSE: usize = 48;

/// One matrix product.
pub(crate) struct Product<'a> {
    /// The left operand, `m` by `k`.
    pub a: Operand<'a>,
    /// The right operand, `k` by `n`.
    pub b: Matrix<'a>,
    /// The result, `m` by `n`, beginning with its first value.
    pub c: &'a mut [f32],
    /// The distance between the rows of `C`.
    pub pitch: usize,
    /// `[m, k, n]`, none of them 0.
    pub sizes: [usize; 3],
    /// The factor with which the sums are added to `C`; `None` to overwrite `C`.
    pub alpha: Option<f32>,
}

impl Product<'_> {
    /// Computes the product on the widest vectors of the processor.
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
    /// The product for rows of at least one vector.
    #[inline(always)]
    fn wide<S: Simd>(self, simd: S) {
        let ([m, k, n], lanes) = (self.sizes, S::F32_LANES);
        let group = match self.a {
            Operand::Plain(_) => GROUP,
            Operand::Transposed(_) => GROUP_OF_TRANSPOSE,
        };
        let has_long_rows = matches!(self.a, Operand::Plain(a) if a.stride >= PAGE);
        let max_vectors = if has_32_registers::<S>() { 3 } else { 2 };
        for first in (0..k).step_by(DEPTH) {
            let alpha = self.alpha.or((first > 0).then_some(1.0));
            for row in (0..m).step_by(group) {
                for (vector, count) in split(n.div_ceil(lanes), max_vectors) {
                    let end = n.min((vector + count) * lanes);
                    // If the row ends within a vector, its last vector is moved back to end with the row. It overlaps
                    // values that are computed already.
                    let start = (vector * lanes).min(end - lanes);
                    // The values of `B` that the next strip reads.
                    let next_b = if self.b.stride < PAGE || row > 0 {
                        &[]
                    } else if end < n {
                        self.b.part(first, end).values
                    } else if first + DEPTH < k {
                        self.b.part(first + DEPTH, 0).values
                    } else {
                        &[]
                    };
                    let mut strip = Strip::<S> {
                        a: self.a,
                        b: self.b.part(first, start),
                        terms: (first, DEPTH.min(k - first)),
                        c: &mut self.c[row * self.pitch + start..],
                        pitch: self.pitch,
                        alpha: simd.splat_f32s(alpha.unwrap_or(1.0)),
                        add: alpha.is_some(),
                        width: end - start,
                        last_vector_values: end - (vector + count - 1) * lanes,
                        next_b,
                        prefetch_rows: has_long_rows && vector == 0,
                    };
                    strip.run(simd, row, group.min(m - row), count);
                }
            }
        }
    }

    /// The product for rows shorter than a vector. The rows of `B` are copied and padded with zeros. The sums of whole
    /// vectors go to a buffer of pitch `n` first, in which each row overwrites the padding of the one before.
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
                    last_vector_values: lanes,
                    next_b: &[],
                    prefetch_rows: false,
                };
                strip.run(simd, row, rows, 1);
                let alpha = self.alpha.or((first > 0).then_some(1.0));
                if self.pitch == n {
                    let c = &mut self.c[row * n..(row + rows) * n];
                    store(c, &sums[..rows * n], alpha);
                } else {
                    let c = self.c[row * self.pitch..].chunks_mut(self.pitch);
                    for (c, sums) in c.zip(sums.chunks_exact(n)).take(rows) {
                        store(&mut c[..n], sums, alpha);
                    }
                }
            }
        }
    }
}

/// Adds `alpha * sums` to `c`, or overwrites `c` with `sums`.
#[inline(always)]
fn store(c: &mut [f32], sums: &[f32], alpha: Option<f32>) {
    let Some(alpha) = alpha else {
        return c.copy_from_slice(sums);
    };
    for (c, sum) in c.iter_mut().zip(sums) {
        *c += alpha * sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::tests::{numbers, on_every_arch};

    #[test]
    fn sums_are_added_on_every_instruction_set() {
        for sizes in [
            [9, 5, 7],
            [50, 130, 16],
            // The rows are longer than a page.
            [9, 1200, 1100],
            [3, 2, 61],
            [8, 300, 40],
            [1, 1, 1],
        ] {
            let [m, k, n] = sizes;
            let (plain, b) = (numbers(m * k), numbers(k * n));
            let mut columns = vec![0.0; k * m];
            let rows = Matrix {
                values: &plain,
                stride: k,
            };
            rows.transpose_into([m, k], &mut columns, m);
            let columns = Matrix {
                values: &columns,
                stride: m,
            };
            let mut expected = vec![1.0; m * n];
            for (i, value) in expected.iter_mut().enumerate() {
                for p in 0..k {
                    *value += 2.0 * plain[i / n * k + p] * b[p * n + i % n];
                }
            }
            for a in [Operand::Plain(rows), Operand::Transposed(columns)] {
                let mut runs = vec![vec![1.0; m * n]; 3];
                let mut next = runs.iter_mut();
                on_every_arch!(|| Product {
                    a,
                    b: Matrix {
                        values: &b,
                        stride: n,
                    },
                    c: next.next().unwrap(),
                    pitch: n,
                    sizes,
                    alpha: Some(2.0),
                });
                assert_eq!(runs[0], expected);
                for run in runs.iter().filter(|run| run.iter().any(|v| *v != 1.0)) {
                    assert_eq!(*run, expected);
                }
            }
        }
    }
}
