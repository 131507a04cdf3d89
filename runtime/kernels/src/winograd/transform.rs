//! Transforms squares of values, sixteen (or as many as a vector holds) channels at a time.

use std::marker::PhantomData;

use pulp::{Arch, Simd, WithSimd};

use super::maps::Map;

/// Input pixels of a tile, and its values once transformed, in each direction.
pub(super) const PATCH: usize = 6;

/// Output pixels of a tile, in each direction, of filters of `kernel` by `kernel` pixels.
pub(super) const fn tile(kernel: usize) -> usize {
    PATCH + 1 - kernel
}

/// Where the squares of a transformation lie. Every value of a square is a row of channels.
#[derive(Clone, Copy)]
pub(super) struct Squares {
    /// Distances between the rows and between the columns of a square.
    pub steps: [usize; 2],
    /// Distance between squares.
    pub next: usize,
}

/// Transforms `count` squares of `width` channels, a multiple of [`LANES`](crate::tile::LANES).
pub(super) fn transform<F: Map<N, M>, const N: usize, const M: usize>(
    from: (&[f32], Squares),
    into: (&mut [f32], Squares),
    [count, width]: [usize; 2],
) {
    Arch::new().dispatch(Transform::<F, N, M, false> {
        from,
        into,
        count,
        width,
        map: PhantomData,
    });
}

/// The same, added to the values that are there. Squares may overlap.
pub(super) fn transform_onto<F: Map<N, M>, const N: usize, const M: usize>(
    from: (&[f32], Squares),
    into: (&mut [f32], Squares),
    [count, width]: [usize; 2],
) {
    Arch::new().dispatch(Transform::<F, N, M, true> {
        from,
        into,
        count,
        width,
        map: PhantomData,
    });
}

struct Transform<'a, F, const N: usize, const M: usize, const ADD: bool> {
    from: (&'a [f32], Squares),
    into: (&'a mut [f32], Squares),
    count: usize,
    width: usize,
    map: PhantomData<F>,
}

impl<F: Map<N, M>, const N: usize, const M: usize, const ADD: bool> WithSimd
    for Transform<'_, F, N, M, ADD>
{
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let ((from, from_at), (into, into_at)) = (self.from, self.into);
        for square in 0..self.count {
            for channel in (0..self.width).step_by(S::F32_LANES) {
                let start = square * from_at.next + channel;
                let mut half = [[simd.splat_f32s(0.0); N]; M];
                for j in 0..N {
                    let column: [S::f32s; N] = std::array::from_fn(|i| {
                        let at = start + i * from_at.steps[0] + j * from_at.steps[1];
                        S::as_simd_f32s(&from[at..at + S::F32_LANES]).0[0]
                    });
                    for (half, value) in half.iter_mut().zip(F::apply(simd, column)) {
                        half[j] = value;
                    }
                }
                let start = square * into_at.next + channel;
                for (i, half) in half.into_iter().enumerate() {
                    for (j, value) in F::apply(simd, half).into_iter().enumerate() {
                        let at = start + i * into_at.steps[0] + j * into_at.steps[1];
                        let into = &mut S::as_mut_simd_f32s(&mut into[at..at + S::F32_LANES]).0[0];
                        *into = if ADD {
                            simd.add_f32s(*into, value)
                        } else {
                            value
                        };
                    }
                }
            }
        }
    }
}
