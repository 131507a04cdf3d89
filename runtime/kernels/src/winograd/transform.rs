//! Transforms squares of values by a linear map along both axes, for a vector of channels at a time. A square is a tile of
//! pixels, a transformed tile, or a filter; its values are rows of channels.

use std::marker::PhantomData;

use pulp::{Arch, Simd, WithSimd};

use super::maps::Map;

/// The number of input pixels of a tile along each axis, and the number of its values once it is transformed.
pub(super) const PATCH: usize = 6;

/// The number of output pixels of a tile along each axis, for filters of `kernel` by `kernel` pixels.
pub(super) const fn tile(kernel: usize) -> usize {
    PATCH + 1 - kernel
}

/// The layout of squares in memory.
#[derive(Clone, Copy)]
pub(super) struct SquareLayout {
    /// The distances between the rows and between the columns of a square.
    pub steps: [usize; 2],
    /// The distance between squares.
    pub next: usize,
}

/// Transforms `count` squares of `width` channels, a multiple of [`LANES`](crate::tile::LANES), and overwrites `into`.
pub(super) fn transform<F: Map<N, M>, const N: usize, const M: usize>(
    from: (&[f32], SquareLayout),
    into: (&mut [f32], SquareLayout),
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

/// Transforms squares and adds them to `into`. The squares of `into` may overlap.
pub(super) fn transform_onto<F: Map<N, M>, const N: usize, const M: usize>(
    from: (&[f32], SquareLayout),
    into: (&mut [f32], SquareLayout),
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
    from: (&'a [f32], SquareLayout),
    into: (&'a mut [f32], SquareLayout),
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
        let ((from, from_layout), (into, into_layout)) = (self.from, self.into);
        for square in 0..self.count {
            for channel in (0..self.width).step_by(S::F32_LANES) {
                let start = square * from_layout.next + channel;
                // The square after the map of its columns.
                let mut half = [[simd.splat_f32s(0.0); N]; M];
                for j in 0..N {
                    let column: [S::f32s; N] = std::array::from_fn(|i| {
                        let at = start + i * from_layout.steps[0] + j * from_layout.steps[1];
                        S::as_simd_f32s(&from[at..at + S::F32_LANES]).0[0]
                    });
                    for (half, value) in half.iter_mut().zip(F::apply(simd, column)) {
                        half[j] = value;
                    }
                }
                let start = square * into_layout.next + channel;
                for (i, half) in half.into_iter().enumerate() {
                    for (j, value) in F::apply(simd, half).into_iter().enumerate() {
                        let at = start + i * into_layout.steps[0] + j * into_layout.steps[1];
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
