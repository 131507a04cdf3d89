//! Matrix products with a transposed right operand, as dot products of rows:
//! `C[i, j] (+)= alpha * sum_k A[i, k] B[j, k]`.
//!
//! Loop order, from outside: rows of `B` by tiles, rows of `A` by tiles, terms. `B`, the larger operand, is read once
//! from memory; `A` has few rows and stays in a cache. The order of a sum does not depend on the tile that it falls
//! into.

use pulp::{Arch, Simd, WithSimd};

use crate::matrix::Matrix;
use crate::tile::{has_32_registers, split};

/// The largest numbers of rows of `A` and of `B` in a tile: 25 accumulators for 32 registers, 10 for 16.
const fn tile_size<S: Simd>() -> (usize, usize) {
    if has_32_registers::<S>() {
        (5, 5)
    } else if S::F32_LANES > 1 {
        (2, 5)
    } else {
        (1, 2)
    }
}

/// One matrix product.
pub(crate) struct DotProduct<'a> {
    /// The left operand, `m` by `k`.
    pub a: Matrix<'a>,
    /// The right operand, transposed: `n` by `k`.
    pub b: Matrix<'a>,
    /// The result, `[m][n]`.
    pub c: &'a mut [f32],
    /// `[m, k, n]`.
    pub sizes: [usize; 3],
    /// The factor with which the sums are added to `C`; `None` to overwrite `C`.
    pub alpha: Option<f32>,
}

impl DotProduct<'_> {
    /// Computes the product on the widest vectors of the processor.
    pub fn run(self) {
        let [m, _, n] = self.sizes;
        assert!(self.c.len() == m * n);
        Arch::new().dispatch(self);
    }
}

impl WithSimd for DotProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        for (j, count) in split(self.sizes[2], tile_size::<S>().1) {
            match count {
                1 => self.band::<S, 1>(simd, j),
                2 => self.band::<S, 2>(simd, j),
                3 => self.band::<S, 3>(simd, j),
                4 => self.band::<S, 4>(simd, j),
                _ => self.band::<S, 5>(simd, j),
            }
        }
    }
}

impl DotProduct<'_> {
    /// Multiplies all rows of `A` with `NR` rows of `B`, from row `j` on.
    #[inline(always)]
    fn band<S: Simd, const NR: usize>(&mut self, simd: S, j: usize) {
        for (i, count) in split(self.sizes[0], tile_size::<S>().0) {
            match count {
                1 => self.tile::<S, 1, NR>(simd, i, j),
                2 => self.tile::<S, 2, NR>(simd, i, j),
                3 => self.tile::<S, 3, NR>(simd, i, j),
                4 => self.tile::<S, 4, NR>(simd, i, j),
                _ => self.tile::<S, 5, NR>(simd, i, j),
            }
        }
    }

    /// Computes a tile of `MR` rows of `A` by `NR` rows of `B`, from rows `i` and `j` on. The accumulators stay in
    /// registers over all terms.
    #[inline(always)]
    fn tile<S: Simd, const MR: usize, const NR: usize>(&mut self, simd: S, i: usize, j: usize) {
        // Tiles are never larger than `tile_size`, but the compiler cannot see that and would generate their code.
        let (rows, columns) = tile_size::<S>();
        if MR > rows || NR > columns {
            return;
        }
        let [_, k, n] = self.sizes;
        let a: [_; MR] = std::array::from_fn(|r| S::as_simd_f32s(self.a.row(i + r, k)));
        let b: [_; NR] = std::array::from_fn(|r| S::as_simd_f32s(self.b.row(j + r, k)));
        let mut acc = [[simd.splat_f32s(0.0); NR]; MR];
        for p in 0..k / S::F32_LANES {
            let left: [S::f32s; MR] = std::array::from_fn(|r| a[r].0[p]);
            for c in 0..NR {
                let right = b[c].0[p];
                for r in 0..MR {
                    acc[r][c] = simd.mul_add_f32s(left[r], right, acc[r][c]);
                }
            }
        }
        if !k.is_multiple_of(S::F32_LANES) {
            let left: [S::f32s; MR] = std::array::from_fn(|r| simd.partial_load_f32s(a[r].1));
            for c in 0..NR {
                let right = simd.partial_load_f32s(b[c].1);
                for r in 0..MR {
                    acc[r][c] = simd.mul_add_f32s(left[r], right, acc[r][c]);
                }
            }
        }
        for (r, sums) in acc.iter().enumerate() {
            let c = &mut self.c[(i + r) * n + j..][..NR];
            for (c, sum) in c.iter_mut().zip(sums) {
                let sum = simd.reduce_sum_f32s(*sum);
                *c = match self.alpha {
                    Some(alpha) => *c + alpha * sum,
                    None => sum,
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::tests::{numbers, on_every_arch};

    #[test]
    fn dots_are_added_on_every_instruction_set() {
        for sizes in [[9, 5, 7], [3, 48, 13], [1, 100, 1]] {
            let [m, k, n] = sizes;
            let (a, b) = (numbers(m * k), numbers(n * k));
            let matrix = |values| Matrix { values, stride: k };
            let mut expected = vec![1.0; m * n];
            for (i, value) in expected.iter_mut().enumerate() {
                for p in 0..k {
                    *value += 2.0 * a[i / n * k + p] * b[i % n * k + p];
                }
            }
            let mut runs = vec![vec![1.0; m * n]; 3];
            let mut next = runs.iter_mut();
            on_every_arch!(|| DotProduct {
                a: matrix(&a),
                b: matrix(&b),
                c: next.next().unwrap(),
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
