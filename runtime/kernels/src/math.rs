//! Elementary functions without branches, calls and tables, which the compiler can vectorize.
//!
//! Multiplications and additions are rounded separately, so that every processor computes the same bits. The largest
//! errors in units of the last place, measured over every 997th `f32`, are: `exp` 1, `log` 0.8, `log1p` 1.5, `tanh` 1.3,
//! `sigmoid` 2.5, `erf` 1.1.
//!
//! The polynomials of `exp`, `log` and `tanh` are those of Moshier's Cephes library (single precision). Those of `erf` are
//! from N. Juffa's `erff`.

use std::f32::consts::LOG2_E;

/// `ln 2` as the sum of two numbers. Multiples of the first one by integers up to 2⁸ are exact.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];

/// `1.5 * 2²³`. If it is added to a small number, the low bits of the sum are the nearest integer.
const ROUND: f32 = 12_582_912.0;

/// The polynomial with these coefficients, the highest first.
#[inline(always)]
fn polynomial<const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let mut sum = coefficients[0];
    for c in &coefficients[1..] {
        sum = sum * x + c;
    }
    sum
}

/// `2^k`, for a `k` that is the exponent of a normal number.
#[inline(always)]
fn power_of_two(k: i32) -> f32 {
    f32::from_bits((k.wrapping_add(127) << 23) as u32)
}

/// `e^x`.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // Beyond these bounds the result is infinite or 0. A NaN stays a NaN.
    let x = if x > 89.0 { 89.0 } else { x };
    let x = if x < -104.0 { -104.0 } else { x };
    let rounded = x * LOG2_E + ROUND;
    let k = rounded - ROUND;
    let r = x - k * LN_2[0] - k * LN_2[1];
    let p = polynomial(
        r,
        [
            1.987_569_1e-4,
            1.398_199_9e-3,
            8.333_452e-3,
            4.166_579_6e-2,
            1.666_666_5e-1,
            0.5,
        ],
    );
    let y = p * r * r + r + 1.0;
    // `2^k` is multiplied as two factors, because by itself it may be infinite or subnormal.
    let k = (rounded.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
    y * power_of_two(k >> 1) * power_of_two(k - (k >> 1))
}

/// `ln x`.
#[inline(always)]
pub(crate) fn log(x: f32) -> f32 {
    let subnormal = x < f32::MIN_POSITIVE;
    let scaled = if subnormal { x * 8_388_608.0 } else { x };
    let shift = if subnormal { 23.0 } else { 0.0 };
    // The mantissa in [√½, √2) and its exponent.
    let bits = scaled.to_bits().wrapping_sub(0x3F35_04F3);
    let k = (bits as i32 >> 23) as f32 - shift;
    let m = f32::from_bits((bits & 0x007F_FFFF).wrapping_add(0x3F35_04F3)) - 1.0;
    let square = m * m;
    let p = polynomial(
        m,
        [
            7.037_683_6e-2,
            -1.151_461e-1,
            1.167_699_9e-1,
            -1.242_014_1e-1,
            1.424_932_3e-1,
            -1.666_805_8e-1,
            2.000_071_4e-1,
            -2.499_999_4e-1,
            3.333_333e-1,
        ],
    );
    let y = p * m * square + k * LN_2[1] - 0.5 * square + m + k * LN_2[0];
    let y = if x == 0.0 { f32::NEG_INFINITY } else { y };
    let y = if x < 0.0 { f32::NAN } else { y };
    // Infinity and NaN are their own logarithms.
    if x < f32::INFINITY { y } else { x }
}

/// `ln(1 + x)`, also for small `x`.
#[inline(always)]
pub(crate) fn log1p(x: f32) -> f32 {
    let u = 1.0 + x;
    // The rounding error of the sum.
    let error = if x > 1.0 {
        1.0 - (u - x)
    } else {
        x - (u - 1.0)
    };
    let y = log(u);
    if u > 0.0 && u < f32::INFINITY {
        y + error / u
    } else {
        y
    }
}

/// The hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    let square = x * x;
    let p = polynomial(
        square,
        [
            -5.704_988_7e-3,
            2.063_909e-2,
            -5.373_971_5e-2,
            1.333_144_2e-1,
            -3.333_328e-1,
        ],
    );
    let small = p * square * x + x;
    let large = 1.0 - 2.0 / (exp(2.0 * x.abs()) + 1.0);
    let y = if x.abs() < 0.625 { small } else { large };
    y.copysign(x)
}

/// `1 / (1 + e^-x)`.
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    let e = exp(-x.abs());
    let y = 1.0 / (1.0 + e);
    if x < 0.0 { e * y } else { y }
}

/// The error function.
#[inline(always)]
pub(crate) fn erf(x: f32) -> f32 {
    let (t, s) = (x.abs(), x * x);
    let r = polynomial(t, [-1.728_534_7e-5, 3.831_971_3e-4]);
    let u = polynomial(t, [-3.883_964_4e-3, 2.425_462_2e-2]);
    let r = polynomial(
        t,
        [r * s + u, -1.067_778_8e-1, -6.348_467e-1, -1.287_175_1e-1],
    );
    let large = (1.0 - exp(r * t - t)).copysign(x);
    let p = polynomial(
        s,
        [
            -5.967_617e-4,
            4.991_194_2e-3,
            -2.676_813_5e-2,
            1.128_199_25e-1,
            -3.761_253_4e-1,
            1.283_791_7e-1,
        ],
    );
    if t > 0.927_734_4 { large } else { p * x + x }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every 997th finite `f32`, and special cases.
    fn arguments() -> impl Iterator<Item = f32> {
        let corners = [0.0, -0.0, 1.0, -1.0, 0.625, 88.8, -87.4, -103.9, 1e-45];
        (0..=u32::MAX)
            .step_by(997)
            .map(f32::from_bits)
            .filter(|x| x.is_finite())
            .chain(corners)
    }

    /// The largest error in units of the last place of the exact result, and the argument at which it occurs.
    fn largest_error(f: impl Fn(f32) -> f32, exact: impl Fn(f64) -> f64) -> (f64, f32) {
        let mut largest = (0.0, 0.0);
        for x in arguments() {
            let (y, exact) = (f(x), exact(f64::from(x)));
            if (exact as f32).is_infinite() || exact.is_nan() {
                assert!(
                    (y - exact as f32).abs() == 0.0
                        || y == exact as f32
                        || y.is_nan() == exact.is_nan(),
                    "{x}: {y} and {exact}"
                );
                continue;
            }
            let size = (exact.abs() as f32).max(f32::MIN_POSITIVE);
            let unit = f64::from(f32::from_bits(size.to_bits() + 1)) - f64::from(size);
            let error = (f64::from(y) - exact).abs() / unit;
            assert!(!error.is_nan(), "{x}: {y} and {exact}");
            if error > largest.0 {
                largest = (error, x);
            }
        }
        largest
    }

    #[test]
    fn errors_are_as_documented() {
        let check = |name: &str, (error, x): (f64, f32), bound: f64| {
            assert!(error <= bound, "{name}({x}): {error} ulp");
        };
        check("exp", largest_error(exp, f64::exp), 1.0);
        check("log", largest_error(log, f64::ln), 0.8);
        check("log1p", largest_error(log1p, f64::ln_1p), 1.5);
        check("tanh", largest_error(tanh, f64::tanh), 1.3);
        check(
            "sigmoid",
            largest_error(sigmoid, |x| 1.0 / (1.0 + (-x).exp())),
            2.5,
        );
        check("erf", largest_error(erf, libm::erf), 1.1);
    }

    #[test]
    fn special_values() {
        let (inf, nan) = (f32::INFINITY, f32::NAN);
        assert_eq!([exp(inf), exp(-inf), exp(89.0)], [inf, 0.0, inf]);
        assert_eq!([log(inf), log(0.0), log(-0.0)], [inf, -inf, -inf]);
        assert_eq!([log1p(inf), log1p(-1.0)], [inf, -inf]);
        assert_eq!([tanh(inf), tanh(-inf)], [1.0, -1.0]);
        assert_eq!([sigmoid(inf), sigmoid(-inf)], [1.0, 0.0]);
        assert_eq!([erf(inf), erf(-inf)], [1.0, -1.0]);
        for f in [exp, log, log1p, tanh, sigmoid, erf] {
            assert!(f(nan).is_nan());
        }
        assert!(log(-1.0).is_nan() && log(-inf).is_nan() && log1p(-2.0).is_nan());
        assert_eq!(tanh(-0.0).to_bits(), (-0.0f32).to_bits());
    }
}
