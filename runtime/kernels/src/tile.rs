//! The product behind the convolutions: `C[i] (+)= sum_k A[i, k] B[k]`, where row `k` of `B` and row `i` of `C` are
//! vectors that start at arbitrary offsets. In the im2col product, they are shifted views of one image.
//!
//! One call computes a block of up to 8 rows of `C`. Loop order, from outside: [`DEPTH`] terms at a time, tiles along
//! the rows, terms. A tile of all rows of the block by 3 (or 2) vectors stays in registers over its terms. The
//! factors `A` are packed in a panel `[k][rows]`, whose part of `DEPTH` terms stays in the first-level cache. Each
//! value of `C` is summed in the order of `k`, whatever the tile it falls into.

use pulp::{Arch, Simd, WithSimd};

/// The largest number of rows of a block. 8 rows of 3 vectors are 24 accumulators, which fit in 32 registers
/// together with the operands.
pub(crate) const ROWS: usize = 8;

/// The number of `f32` lanes of the widest vector of any supported processor. Row lengths are multiples of it.
pub(crate) const LANES: usize = 16;

/// The number of terms that are summed in registers before the sums are added to `C`. The part of a panel that has
/// so many terms (16 KiB) stays in the first-level cache.
pub(crate) const DEPTH: usize = 512;

/// The largest number of rows of a block with 16 registers. 6 rows of 2 vectors are 12 accumulators.
const ROWS_OF_16_REGISTERS: usize = 6;

/// Splits `rows` into blocks `(start, count)` that fit the processor's registers.
pub(crate) fn blocks(rows: usize) -> impl Iterator<Item = (usize, usize)> {
    split(rows, Arch::new().dispatch(MaxRows))
}

/// Calls [`max_rows`] for the processor's instruction set.
struct MaxRows;

impl WithSimd for MaxRows {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        max_rows::<S>()
    }
}

/// The largest number of rows of a block with this instruction set. Without vectors, speed does not matter, so only
/// few sizes of a tile are compiled.
pub(crate) const fn max_rows<S: Simd>() -> usize {
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

/// Splits `rows` into blocks `(start, count)` of at most `max` rows. The blocks are as even as possible, because a
/// block of a single row has too few independent additions to hide their latency.
pub(crate) fn split(rows: usize, max: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = rows.div_ceil(max).max(1);
    (0..count).map(move |i| {
        let start = i * rows / count;
        (start, (i + 1) * rows / count - start)
    })
}

/// The product for one block of rows of `C`.
pub(crate) struct RowBlock<'a> {
    /// The number of rows of the block, 1 to [`ROWS`].
    pub rows: usize,
    /// The factors `A`, packed as `[k][rows]`.
    pub panel: &'a [f32],
    /// The values in which the rows of `B` lie.
    pub b: &'a [f32],
    /// The start of each row `k` of `B` in `b`. Its length is the number of terms.
    pub b_offsets: &'a [usize],
    /// The length of a row, a multiple of [`LANES`].
    pub len: usize,
    /// The values in which the rows of `C` lie. Rows may overlap if `add` is set.
    pub c: &'a mut [f32],
    /// The start of each row `i` of `C` in `c`.
    pub c_offsets: &'a [usize],
    /// Whether to add to `C` instead of overwriting it.
    pub add: bool,
}

impl RowBlock<'_> {
    /// Computes the product on the widest vectors of the processor.
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

/// Computes all tiles of a block of `MR` rows.
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

/// Computes a tile of `MR` rows by `NV` vectors, from value `p` of each row on, and adds it to `C` or overwrites `C`.
/// The accumulators stay in registers over all terms of the panel.
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
            // The rows of `C` overlap, so several results are added to one value.
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
