//! The transformations of F(4x4, 3x3), sixteen (or as many as a vector holds) channels at a time.
//!
//! A product of polynomials of degree 2 and 3 is found from its values at six points: 0, ±`A`, ±`B` and
//! infinity. Values at `p` and `-p` share their even and odd halves. With ±1 and ±2, the points of Lavin and
//! Gray (arXiv:1509.09308), errors are four times as large.

use std::marker::PhantomData;

use pulp::{Arch, Simd, WithSimd};

/// Output pixels of a tile, in each direction.
pub(super) const TILE: usize = 4;

/// Input pixels of a tile, and its values once transformed, in each direction.
pub(super) const PATCH: usize = 6;

const A: f32 = 0.75;
const B: f32 = 1.5;
const A2: f32 = A * A;
const B2: f32 = B * B;
/// The products of the differences of a point to the others: of 0, `A` and `B`.
const N0: f32 = A2 * B2;
const NA: f32 = 2.0 * A2 * (A2 - B2);
const NB: f32 = 2.0 * B2 * (B2 - A2);

/// A linear map of `N` values to `M`, applied to the columns and then to the rows of a square of values.
pub(super) trait Map<const N: usize, const M: usize> {
    fn apply<S: Simd>(simd: S, values: [S::f32s; N]) -> [S::f32s; M];
}

/// Of the input.
pub(super) struct Input;

impl Map<6, 6> for Input {
    #[inline(always)]
    fn apply<S: Simd>(s: S, d: [S::f32s; 6]) -> [S::f32s; 6] {
        let [even_a, even_b] = [B2, A2].map(|c| plus(s, d[4], -c, d[2]));
        let odd_a = times(s, A, plus(s, d[3], -B2, d[1]));
        let odd_b = times(s, B, plus(s, d[3], -A2, d[1]));
        let ends = |i: usize| plus(s, plus(s, d[i + 4], -(A2 + B2), d[i + 2]), N0, d[i]);
        [
            ends(0),
            s.add_f32s(even_a, odd_a),
            s.sub_f32s(even_a, odd_a),
            s.add_f32s(even_b, odd_b),
            s.sub_f32s(even_b, odd_b),
            ends(1),
        ]
    }
}

/// Of the sums of products to the output.
pub(super) struct Output;

impl Map<6, 4> for Output {
    #[inline(always)]
    fn apply<S: Simd>(s: S, m: [S::f32s; 6]) -> [S::f32s; 4] {
        let [even_a, even_b] = [1, 3].map(|i| s.add_f32s(m[i], m[i + 1]));
        let [odd_a, odd_b] = [1, 3].map(|i| s.sub_f32s(m[i], m[i + 1]));
        [
            s.add_f32s(m[0], s.add_f32s(even_a, even_b)),
            plus(s, times(s, B, odd_b), A, odd_a),
            plus(s, times(s, B2, even_b), A2, even_a),
            plus(s, plus(s, m[5], B2 * B, odd_b), A2 * A, odd_a),
        ]
    }
}

/// Of the gradient of the output: the transpose of [`Output`].
pub(super) struct OutputGrad;

impl Map<4, 6> for OutputGrad {
    #[inline(always)]
    fn apply<S: Simd>(s: S, y: [S::f32s; 4]) -> [S::f32s; 6] {
        let [even_a, even_b] = [A2, B2].map(|c| plus(s, y[0], c, y[2]));
        let odd_a = times(s, A, plus(s, y[1], A2, y[3]));
        let odd_b = times(s, B, plus(s, y[1], B2, y[3]));
        [
            y[0],
            s.add_f32s(even_a, odd_a),
            s.sub_f32s(even_a, odd_a),
            s.add_f32s(even_b, odd_b),
            s.sub_f32s(even_b, odd_b),
            y[3],
        ]
    }
}

/// Of a filter.
pub(super) struct Filter;

impl Map<3, 6> for Filter {
    #[inline(always)]
    fn apply<S: Simd>(s: S, g: [S::f32s; 3]) -> [S::f32s; 6] {
        let even_a = plus(s, times(s, 1.0 / NA, g[0]), A2 / NA, g[2]);
        let even_b = plus(s, times(s, 1.0 / NB, g[0]), B2 / NB, g[2]);
        let [odd_a, odd_b] = [A / NA, B / NB].map(|c| times(s, c, g[1]));
        [
            times(s, 1.0 / N0, g[0]),
            s.add_f32s(even_a, odd_a),
            s.sub_f32s(even_a, odd_a),
            s.add_f32s(even_b, odd_b),
            s.sub_f32s(even_b, odd_b),
            g[2],
        ]
    }
}

/// Of a filter turned by 180°.
pub(super) struct TurnedFilter;

impl Map<3, 6> for TurnedFilter {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, [a, b, c]: [S::f32s; 3]) -> [S::f32s; 6] {
        Filter::apply(simd, [c, b, a])
    }
}

/// Of the sums of products to the gradient of a filter: the transpose of [`Filter`].
pub(super) struct FilterGrad;

impl Map<6, 3> for FilterGrad {
    #[inline(always)]
    fn apply<S: Simd>(s: S, u: [S::f32s; 6]) -> [S::f32s; 3] {
        let [even_a, even_b] = [1, 3].map(|i| s.add_f32s(u[i], u[i + 1]));
        let [odd_a, odd_b] = [1, 3].map(|i| s.sub_f32s(u[i], u[i + 1]));
        let even = plus(s, times(s, 1.0 / NB, even_b), 1.0 / NA, even_a);
        [
            plus(s, even, 1.0 / N0, u[0]),
            plus(s, times(s, B / NB, odd_b), A / NA, odd_a),
            plus(s, plus(s, u[5], B2 / NB, even_b), A2 / NA, even_a),
        ]
    }
}

/// `a + c * b`.
#[inline(always)]
fn plus<S: Simd>(simd: S, a: S::f32s, c: f32, b: S::f32s) -> S::f32s {
    simd.mul_add_f32s(simd.splat_f32s(c), b, a)
}

/// `c * a`.
#[inline(always)]
fn times<S: Simd>(simd: S, c: f32, a: S::f32s) -> S::f32s {
    simd.mul_f32s(simd.splat_f32s(c), a)
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
    Arch::new().dispatch(Transform::<F, N, M> {
        from,
        into,
        count,
        width,
        map: PhantomData,
    });
}

struct Transform<'a, F, const N: usize, const M: usize> {
    from: (&'a [f32], Squares),
    into: (&'a mut [f32], Squares),
    count: usize,
    width: usize,
    map: PhantomData<F>,
}

impl<F: Map<N, M>, const N: usize, const M: usize> WithSimd for Transform<'_, F, N, M> {
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
                        S::as_mut_simd_f32s(&mut into[at..at + S::F32_LANES]).0[0] = value;
                    }
                }
            }
        }
    }
}
