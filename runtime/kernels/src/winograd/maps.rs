//! The linear maps of F(4x4, 3x3) and F(2x2, 5x5) along one axis, on vectors of channels.
//!
//! A product of polynomials whose degrees add up to 5 is determined by its values at six points: 0, ±`A`, ±`B` and
//! infinity. The values at `p` and `-p` are the sum and the difference of an even and an odd half, which are computed once.
//! With ±1 and ±2, the points of Lavin and Gray (arXiv:1509.09308), rounding errors are four times as large.

use pulp::Simd;

const A: f32 = 0.75;
const B: f32 = 1.5;
const A2: f32 = A * A;
const B2: f32 = B * B;
/// The product of the differences between a point and the other finite points: for the points 0, `A` and `B`.
const N0: f32 = A2 * B2;
const NA: f32 = 2.0 * A2 * (A2 - B2);
const NB: f32 = 2.0 * B2 * (B2 - A2);

/// A linear map of `N` values to `M` values. A square of values is transformed by applying it to the columns and then to the
/// rows.
pub(super) trait Map<const N: usize, const M: usize> {
    fn apply<S: Simd>(simd: S, values: [S::f32s; N]) -> [S::f32s; M];
}

/// The map of the input.
pub(super) struct Input;

impl Map<6, 6> for Input {
    #[inline(always)]
    fn apply<S: Simd>(s: S, d: [S::f32s; 6]) -> [S::f32s; 6] {
        let [even_a, even_b] = [B2, A2].map(|c| plus(s, d[4], -c, d[2]));
        let odd_a = times(s, A, plus(s, d[3], -B2, d[1]));
        let odd_b = times(s, B, plus(s, d[3], -A2, d[1]));
        let ends = |i: usize| plus(s, plus(s, d[i + 4], -(A2 + B2), d[i + 2]), N0, d[i]);
        at_points(s, ends(0), [even_a, even_b], [odd_a, odd_b], ends(1))
    }
}

/// The map from the sums of products to the gradient of the input: the transpose of [`Input`].
pub(super) struct InputGrad;

impl Map<6, 6> for InputGrad {
    #[inline(always)]
    fn apply<S: Simd>(s: S, v: [S::f32s; 6]) -> [S::f32s; 6] {
        let [[even_a, even_b], [odd_a, odd_b]] = halves(s, v);
        let (odd_a, odd_b) = (times(s, A, odd_a), times(s, B, odd_b));
        let sum =
            |c: f32, end, even, other| plus(s, plus(s, times(s, c, end), -B2, even), -A2, other);
        [
            times(s, N0, v[0]),
            sum(N0, v[5], odd_a, odd_b),
            sum(-(A2 + B2), v[0], even_a, even_b),
            plus(s, s.add_f32s(odd_a, odd_b), -(A2 + B2), v[5]),
            s.add_f32s(v[0], s.add_f32s(even_a, even_b)),
            v[5],
        ]
    }
}

/// The map from the sums of products to the output.
pub(super) struct Output;

impl Map<6, 4> for Output {
    #[inline(always)]
    fn apply<S: Simd>(s: S, m: [S::f32s; 6]) -> [S::f32s; 4] {
        let [[even_a, even_b], [odd_a, odd_b]] = halves(s, m);
        [
            s.add_f32s(m[0], s.add_f32s(even_a, even_b)),
            plus(s, times(s, B, odd_b), A, odd_a),
            plus(s, times(s, B2, even_b), A2, even_a),
            plus(s, plus(s, m[5], B2 * B, odd_b), A2 * A, odd_a),
        ]
    }
}

impl Map<6, 2> for Output {
    #[inline(always)]
    fn apply<S: Simd>(s: S, m: [S::f32s; 6]) -> [S::f32s; 2] {
        let [[even_a, even_b], [odd_a, odd_b]] = halves(s, m);
        [
            s.add_f32s(m[0], s.add_f32s(even_a, even_b)),
            plus(s, plus(s, m[5], B, odd_b), A, odd_a),
        ]
    }
}

/// The map of the gradient of the output: the transpose of [`Output`].
pub(super) struct OutputGrad;

impl Map<4, 6> for OutputGrad {
    #[inline(always)]
    fn apply<S: Simd>(s: S, y: [S::f32s; 4]) -> [S::f32s; 6] {
        let [even_a, even_b] = [A2, B2].map(|c| plus(s, y[0], c, y[2]));
        let odd_a = times(s, A, plus(s, y[1], A2, y[3]));
        let odd_b = times(s, B, plus(s, y[1], B2, y[3]));
        at_points(s, y[0], [even_a, even_b], [odd_a, odd_b], y[3])
    }
}

impl Map<2, 6> for OutputGrad {
    #[inline(always)]
    fn apply<S: Simd>(s: S, y: [S::f32s; 2]) -> [S::f32s; 6] {
        let [a, b] = [A, B].map(|c| [plus(s, y[0], c, y[1]), plus(s, y[0], -c, y[1])]);
        [y[0], a[0], a[1], b[0], b[1], y[1]]
    }
}

/// The map of a filter.
pub(super) struct Filter;

impl Map<3, 6> for Filter {
    #[inline(always)]
    fn apply<S: Simd>(s: S, g: [S::f32s; 3]) -> [S::f32s; 6] {
        let even_a = plus(s, times(s, 1.0 / NA, g[0]), A2 / NA, g[2]);
        let even_b = plus(s, times(s, 1.0 / NB, g[0]), B2 / NB, g[2]);
        let [odd_a, odd_b] = [A / NA, B / NB].map(|c| times(s, c, g[1]));
        at_points(
            s,
            times(s, 1.0 / N0, g[0]),
            [even_a, even_b],
            [odd_a, odd_b],
            g[2],
        )
    }
}

impl Map<5, 6> for Filter {
    #[inline(always)]
    fn apply<S: Simd>(s: S, g: [S::f32s; 5]) -> [S::f32s; 6] {
        let half = |i: usize, c: f32, n: f32| plus(s, times(s, 1.0 / n, g[i]), c / n, g[i + 2]);
        let even_a = plus(s, half(0, A2, NA), A2 * A2 / NA, g[4]);
        let even_b = plus(s, half(0, B2, NB), B2 * B2 / NB, g[4]);
        let (odd_a, odd_b) = (times(s, A, half(1, A2, NA)), times(s, B, half(1, B2, NB)));
        at_points(
            s,
            times(s, 1.0 / N0, g[0]),
            [even_a, even_b],
            [odd_a, odd_b],
            g[4],
        )
    }
}

/// The map from the sums of products to the gradient of a filter: the transpose of [`Filter`].
pub(super) struct FilterGrad;

impl Map<6, 3> for FilterGrad {
    #[inline(always)]
    fn apply<S: Simd>(s: S, u: [S::f32s; 6]) -> [S::f32s; 3] {
        let [[even_a, even_b], [odd_a, odd_b]] = halves(s, u);
        let even = plus(s, times(s, 1.0 / NB, even_b), 1.0 / NA, even_a);
        [
            plus(s, even, 1.0 / N0, u[0]),
            plus(s, times(s, B / NB, odd_b), A / NA, odd_a),
            plus(s, plus(s, u[5], B2 / NB, even_b), A2 / NA, even_a),
        ]
    }
}

impl Map<6, 5> for FilterGrad {
    #[inline(always)]
    fn apply<S: Simd>(s: S, u: [S::f32s; 6]) -> [S::f32s; 5] {
        let [[even_a, even_b], [odd_a, odd_b]] = halves(s, u);
        // The sum over both points of a half times a power of the point.
        let both = |a: f32, even: S::f32s, b: f32, other: S::f32s| {
            plus(s, times(s, b / NB, other), a / NA, even)
        };
        [
            plus(s, both(1.0, even_a, 1.0, even_b), 1.0 / N0, u[0]),
            both(A, odd_a, B, odd_b),
            both(A2, even_a, B2, even_b),
            both(A2 * A, odd_a, B2 * B, odd_b),
            s.add_f32s(both(A2 * A2, even_a, B2 * B2, even_b), u[5]),
        ]
    }
}

/// The values at all six points, from the value at 0, the even and the odd halves at `A` and at `B`, and the value at
/// infinity.
#[inline(always)]
fn at_points<S: Simd>(
    simd: S,
    first: S::f32s,
    [even_a, even_b]: [S::f32s; 2],
    [odd_a, odd_b]: [S::f32s; 2],
    last: S::f32s,
) -> [S::f32s; 6] {
    [
        first,
        simd.add_f32s(even_a, odd_a),
        simd.sub_f32s(even_a, odd_a),
        simd.add_f32s(even_b, odd_b),
        simd.sub_f32s(even_b, odd_b),
        last,
    ]
}

/// The sums of the values at `p` and `-p` for `p` = `A` and `B`, and their differences: the transpose of [`at_points`].
#[inline(always)]
fn halves<S: Simd>(simd: S, v: [S::f32s; 6]) -> [[S::f32s; 2]; 2] {
    [
        [1, 3].map(|i| simd.add_f32s(v[i], v[i + 1])),
        [1, 3].map(|i| simd.sub_f32s(v[i], v[i + 1])),
    ]
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
