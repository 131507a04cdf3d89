//! The product behind the weight gradient of a convolution: dot products of every row of `A` with every row of `B`,
//! `C[i, k] += sum_p A[i, p] B[k, p]`, summed over a group of images. The rows of `B` start at arbitrary offsets.
//!
//! Loop order, from outside: rows of `A` by tiles, rows of `B` by tiles, images, values of a row. The sums of a tile
//! are vectors that stay in registers over all images; their lanes are added up once at the end.

use pulp::{Arch, Simd, WithSimd};

use crate::tile::{LANES, has_32_registers, split};

/// The largest numbers of rows of `A` and of `B` in a tile: 24 accumulators for 32 registers, 10 for 16.
const fn tile_size<S: Simd>() -> (usize, usize) {
    if has_32_registers::<S>() {
        (4, 6)
    } else if S::F32_LANES > 1 {
        (2, 5)
    } else {
        (1, 2)
    }
}

/// The operands and the result, for a group of images.
pub(crate) struct RowDots<'a> {
    /// The number of rows of `A` in one image.
    pub rows: usize,
    /// The rows of `A`, `[images][rows][len]`.
    pub a: &'a [f32],
    /// The values in which the rows of `B` lie, an equal part for each image.
    pub b: &'a [f32],
    /// The start of each row `k` of `B` in the part of an image.
    pub b_offsets: &'a [usize],
    /// The length of a row, a multiple of [`LANES`].
    pub len: usize,
    /// The result, `[rows][b_offsets.len()]`.
    pub c: &'a mut [f32],
}

impl RowDots<'_> {
    /// Adds the dot products to `c`, on the widest vectors of the processor.
    pub fn run(self) {
        assert!(self.len > 0 && self.len.is_multiple_of(LANES));
        assert!(self.c.len() == self.rows * self.b_offsets.len());
        Arch::new().dispatch(self);
    }
}

impl WithSimd for RowDots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        for (row, rows) in split(self.rows, tile_size::<S>().0) {
            match rows {
                1 => band::<S, 1>(simd, &mut self, row),
                2 => band::<S, 2>(simd, &mut self, row),
                3 => band::<S, 3>(simd, &mut self, row),
                _ => band::<S, 4>(simd, &mut self, row),
            }
        }
    }
}

/// Multiplies `MR` rows of `A`, from `row` on, with all rows of `B`.
#[inline(always)]
fn band<S: Simd, const MR: usize>(simd: S, dots: &mut RowDots<'_>, row: usize) {
    for (k, count) in split(dots.b_offsets.len(), tile_size::<S>().1) {
        match count {
            1 => tile::<S, MR, 1>(simd, dots, row, k),
            2 => tile::<S, MR, 2>(simd, dots, row, k),
            3 => tile::<S, MR, 3>(simd, dots, row, k),
            4 => tile::<S, MR, 4>(simd, dots, row, k),
            5 => tile::<S, MR, 5>(simd, dots, row, k),
            _ => tile::<S, MR, 6>(simd, dots, row, k),
        }
    }
}

/// Computes a tile of `MR` rows of `A` by `NR` rows of `B`, from rows `row` and `k` on. The accumulators stay in
/// registers over the whole length of all images.
#[inline(always)]
fn tile<S: Simd, const MR: usize, const NR: usize>(
    simd: S,
    dots: &mut RowDots<'_>,
    row: usize,
    k: usize,
) {
    // Tiles are never larger than `tile_size`, but the compiler cannot see that and would generate their code.
    let (rows, columns) = tile_size::<S>();
    if MR > rows || NR > columns {
        return;
    }
    let (len, taps) = (dots.len, dots.b_offsets.len());
    let a_images = dots.a.chunks_exact(dots.rows * len);
    let b_images = dots.b.chunks_exact(dots.b.len() / a_images.len().max(1));
    let mut acc = [[simd.splat_f32s(0.0); NR]; MR];
    for (a, b) in a_images.zip(b_images) {
        let a: [&[S::f32s]; MR] =
            std::array::from_fn(|i| S::as_simd_f32s(&a[(row + i) * len..][..len]).0);
        let b: [&[S::f32s]; NR] =
            std::array::from_fn(|j| S::as_simd_f32s(&b[dots.b_offsets[k + j]..][..len]).0);
        for p in 0..len / S::F32_LANES {
            let left: [S::f32s; MR] = std::array::from_fn(|i| a[i][p]);
            for j in 0..NR {
                let right = b[j][p];
                for i in 0..MR {
                    acc[i][j] = simd.mul_add_f32s(left[i], right, acc[i][j]);
                }
            }
        }
    }
    for (i, sums) in acc.iter().enumerate() {
        for (j, sum) in sums.iter().enumerate() {
            dots.c[(row + i) * taps + k + j] += simd.reduce_sum_f32s(*sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::tests::{numbers, on_every_arch};

    #[test]
    fn every_row_meets_every_row_on_every_instruction_set() {
        for (images, rows, taps, len) in [(1, 4, 6, 16), (3, 7, 13, 48), (2, 1, 1, 32)] {
            let part = 3 * taps + len;
            let (a, b) = (numbers(images * rows * len), numbers(images * part));
            let b_offsets: Vec<usize> = (0..taps).map(|k| 3 * k).collect();
            let mut expected = vec![1.0; rows * taps];
            for (i, sum) in expected.iter_mut().enumerate() {
                for n in 0..images {
                    let a = &a[(n * rows + i / taps) * len..][..len];
                    let b = &b[n * part + b_offsets[i % taps]..][..len];
                    *sum += a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
                }
            }
            let mut runs = vec![vec![1.0; rows * taps]; 3];
            let mut next = runs.iter_mut();
            on_every_arch!(|| RowDots {
                rows,
                a: &a,
                b: &b,
                b_offsets: &b_offsets,
                len,
                c: next.next().unwrap(),
            });
            assert_eq!(runs[0], expected);
            for run in runs.iter().filter(|run| run.iter().any(|v| *v != 1.0)) {
                assert_eq!(*run, expected);
            }
        }
    }
}
