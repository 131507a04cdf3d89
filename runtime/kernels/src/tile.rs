//! Products whose rows are found through tables of offsets: `C[i] (+)= sum_k A[i, k] B[k]`, where row `k` of
//! `B` and row `i` of `C` start at arbitrary offsets.

use pulp::{Arch, Simd, WithSimd};

/// The largest number of rows of a block. 8 rows of 3 vectors are 24 accumulators, which fit in 32 registers
/// beside the operands.
pub(crate) const ROWS: usize = 8;

/// The number of values in the widest vector of any supported processor. Row lengths are multiples of it.
pub(crate) const LANES: usize = 16;

/// The number of terms that are summed in registers before they are added to `C`. Their part of a packed
/// panel (16 KiB) stays in the first-level cache.
pub(crate) const DEPTH: usize = 512;

/// The largest number of rows of a block with 16 registers. 6 rows of 2 vectors are 12 accumulators.
const ROWS_OF_16_REGISTERS: usize = 6;

/// Splits `rows` into blocks `(start, count)` of as many rows as the processor's registers hold.
pub(crate) fn blocks(rows: usize) -> impl Iterator<Item = (usize, usize)> {
    split(rows, Arch::new().dispatch(MostRows))
}

/// The most rows of a block on this processor.
struct MostRows;

impl WithSimd for MostRows {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        most_rows::<S>()
    }
}

/// The most rows of a block with this instruction set. Without vectors, speed is not what matters: few forms
/// of a tile are compiled.
pub(crate) const fn most_rows<S: Simd>() -> usize {
    if has_32_registers::<S>() {
        ROWS
    } else if S::F32_LANES > 1 {
        ROWS_OF_16_REGISTERS
    } else {
        2
    }
}

/// Whether the instruction set has twice the vector registers of AVX2.
pub(crate) const fn has_32_registers<S: Simd>() -> bool {
    S::REGISTER_COUNT >= 32
}

/// Splits `rows` into blocks `(start, count)` of at most `most` rows. They are as even as possible, because a
/// block of a single row is limited by latency.
pub(crate) fn split(rows: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = rows.div_ceil(most).max(1);
    (0..count).map(move |i| {
        let start = i * rows / count;
        (start, (i + 1) * rows / count - start)
    })
}

/// One block of rows.
pub(crate) struct RowBlock<'a> {
    /// Rows of the block, 1 to [`ROWS`].
    pub rows: usize,
    /// Factors, `[k][rows]`.
    pub panel: &'a [f32],
    /// The values of the rows of `B`.
    pub b: &'a [f32],
    /// The start of row `k` of `B`.
    pub b_offsets: &'a [usize],
    /// Length of a row, a multiple of [`LANES`].
    pub len: usize,
    /// The values of the rows of `C`. Rows may overlap if `add` is set.
    pub c: &'a mut [f32],
    /// The start of row `i` of `C`.
    pub c_offsets: &'a [usize],
    /// Add to `C` instead of overwriting it.
    pub add: bool,
}

impl RowBlock<'_> {
    /// Runs the product on the widest vectors the processor has.
    pub fn run(self) {
        assert!(self.panel.len() == self.rows * self.b_offsets.len());
        assert!(self.c_offsets.len() == self.rows && self.len.is_multiple_of(LANES));
        Arch::new().dispatch(self);
    }
}

impl WithSimd for RowBlock<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self.rows {
            1 => rows::<S, 1>(simd, self),
            2 => rows::<S, 2>(simd, self),
            3 => rows::<S, 3>(simd, self),
            4 => rows::<S, 4>(simd, self),
            5 => rows::<S, 5>(simd, self),
            6 => rows::<S, 6>(simd, self),
            7 => rows::<S, 7>(simd, self),
            _ => rows::<S, 8>(simd, self),
        }
    }
}

/// All tiles of a block of `MR` rows.
#[inline(always)]
fn rows<S: Simd, const MR: usize>(simd: S, mut block: RowBlock<'_>) {
    let lanes = S::F32_LANES;
    let mut first = true;
    let panels = block.panel.chunks(DEPTH * MR);
    for (panel, offsets) in panels.zip(block.b_offsets.chunks(DEPTH)) {
        let add = block.add || !first;
        first = false;
        let mut p = 0;
        if has_32_registers::<S>() {
            while p + 3 * lanes <= block.len {
                tile::<S, MR, 3>(simd, panel, offsets, p, add, &mut block);
                p += 3 * lanes;
            }
        }
        while p + 2 * lanes <= block.len {
            tile::<S, MR, 2>(simd, panel, offsets, p, add, &mut block);
            p += 2 * lanes;
        }
        if p < block.len {
            tile::<S, MR, 1>(simd, panel, offsets, p, add, &mut block);
        }
    }
}

/// `MR` rows by `NV` vectors, kept in registers over all terms.
#[inline(always)]
fn tile<S: Simd, const MR: usize, const NV: usize>(
    simd: S,
    panel: &[f32],
    offsets: &[usize],
    p: usize,
    add: bool,
    block: &mut RowBlock<'_>,
) {
    let width = NV * S::F32_LANES;
    let mut acc = [[simd.splat_f32s(0.0); NV]; MR];
    let (panel, _) = panel.as_chunks::<MR>();
    for (a, &offset) in panel.iter().zip(offsets) {
        let start = offset + p;
        let (b, _) = S::as_simd_f32s(&block.b[start..start + width]);
        for i in 0..MR {
            let a = simd.splat_f32s(a[i]);
            for j in 0..NV {
                acc[i][j] = simd.mul_add_f32s(a, b[j], acc[i][j]);
            }
        }
    }
    for (sums, offset) in acc.iter().zip(block.c_offsets) {
        let start = offset + p;
        let (c, _) = S::as_mut_simd_f32s(&mut block.c[start..start + width]);
        for (c, sum) in c.iter_mut().zip(sums) {
            *c = if add { simd.add_f32s(*c, *sum) } else { *sum };
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Small whole numbers, so that every order of summation gives the same result.
    pub(crate) fn numbers(len: usize) -> Vec<f32> {
        (0..len).map(|i| ((i * 31) % 17) as f32 - 8.0).collect()
    }

    /// Runs `f` for every instruction set that the processor has.
    macro_rules! on_every_arch {
        ($make:expr) => {{
            let mut make = $make;
            Simd::vectorize(pulp::Scalar::new(), make());
            #[cfg(target_arch = "x86_64")]
            {
                if let Some(v3) = pulp::x86::V3::try_new() {
                    Simd::vectorize(v3, make());
                }
            }
            Arch::new().dispatch(make());
        }};
    }
    pub(crate) use on_every_arch;

    #[test]
    fn rows_are_summed_and_added_on_every_instruction_set() {
        for (rows, terms, len) in [(8, 5, 96), (3, 700, 16), (1, 2, 80), (6, 513, 64)] {
            let (panel, b) = (numbers(terms * rows), numbers(3 * terms + len));
            let b_offsets: Vec<usize> = (0..terms).map(|k| 3 * k).collect();
            // Overlapping rows, which all results are added to.
            let c_offsets: Vec<usize> = (0..rows).map(|i| 2 * i).collect();
            let mut expected = vec![1.0; len + 2 * rows];
            for i in 0..rows {
                for p in 0..len {
                    for k in 0..terms {
                        expected[2 * i + p] += panel[k * rows + i] * b[3 * k + p];
                    }
                }
            }
            let mut runs: Vec<Vec<f32>> = vec![vec![1.0; len + 2 * rows]; 3];
            let mut next = runs.iter_mut();
            on_every_arch!(|| RowBlock {
                rows,
                panel: &panel,
                b: &b,
                b_offsets: &b_offsets,
                len,
                c: next.next().unwrap(),
                c_offsets: &c_offsets,
                add: true,
            });
            for run in runs.iter().filter(|run| run.iter().any(|v| *v != 1.0)) {
                assert_eq!(*run, expected);
            }
            assert_ne!(runs[0][0], 1.0);
        }
    }

    #[test]
    fn a_split_is_even_and_complete() {
        assert_eq!(split(9, 8).collect::<Vec<_>>(), [(0, 4), (4, 5)]);
        assert_eq!(split(8, 8).collect::<Vec<_>>(), [(0, 8)]);
        for rows in 1..40 {
            assert_eq!(split(rows, 6).map(|(_, count)| count).sum::<usize>(), rows);
        }
    }
}
