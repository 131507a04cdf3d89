//! Vectorized loops over lines of images, whose length is often not a multiple of a vector.
//!
//! If the compiler does not know the length of a loop, the loop handles the last values one by one: with vectors of
//! 16, that is all values of a line of 14. The loops here go in blocks of a constant length, and the last block
//! overlaps the one before it. The overlapping values are computed twice, so the operation must give the same
//! result again.

/// The starts of blocks of `N` values that cover a line of `len` values, at least `N`.
#[inline(always)]
pub(crate) fn starts<const N: usize>(len: usize) -> impl Iterator<Item = usize> {
    (0..len).step_by(N).map(move |start| start.min(len - N))
}

/// The `N` values from `start` on.
#[inline(always)]
pub(crate) fn block<const N: usize, T>(values: &[T], start: usize) -> Option<&[T; N]> {
    values[start..].first_chunk()
}

/// The `N` values from `start` on, mutable.
#[inline(always)]
pub(crate) fn block_mut<const N: usize, T>(values: &mut [T], start: usize) -> Option<&mut [T; N]> {
    values[start..].first_chunk_mut()
}

/// Copies `to.len()` values. It does not call `memcpy`, because the call takes longer than copying ten pixels.
#[inline(always)]
pub(crate) fn copy(from: &[f32], to: &mut [f32]) {
    map(from, to, |value| value);
}

/// Sets each value of `to` to `f` of the value in `from`.
#[inline(always)]
pub(crate) fn map(from: &[f32], to: &mut [f32], f: impl Fn(f32) -> f32) {
    match to.len() {
        16.. => map_blocks::<16>(from, to, f),
        8.. => map_blocks::<8>(from, to, f),
        4.. => map_blocks::<4>(from, to, f),
        _ => map_blocks::<1>(from, to, f),
    }
}

#[inline(always)]
fn map_blocks<const N: usize>(from: &[f32], to: &mut [f32], f: impl Fn(f32) -> f32) {
    let from = &from[..to.len()];
    for start in starts::<N>(to.len()) {
        if let (Some(from), Some(to)) = (block::<N, _>(from, start), block_mut::<N, _>(to, start)) {
            *to = from.map(&f);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_any_length_are_mapped() {
        let from: Vec<f32> = (0..50).map(|i| i as f32).collect();
        for len in 0..50 {
            let mut to = vec![-1.0; len + 1];
            map(&from, &mut to[..len], |value| 2.0 * value);
            let expected = from[..len].iter().map(|value| 2.0 * value);
            assert_eq!(to, expected.chain([-1.0]).collect::<Vec<_>>());
        }
    }
}
