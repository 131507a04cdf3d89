//! The fast Fourier transform, for powers of distributions.

use std::f64::consts::TAU;

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    fn of_angle(angle: f64) -> Self {
        let (im, re) = angle.sin_cos();
        Self { re, im }
    }

    fn times(self, other: Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }

    fn power(self, n: f64) -> Self {
        let size = self.re.hypot(self.im).powf(n);
        let Self { re, im } = Self::of_angle(self.im.atan2(self.re) * n);
        Self {
            re: size * re,
            im: size * im,
        }
    }
}

/// The `n`-fold circular convolution of some values with themselves. Their number must be a power of two.
pub(crate) fn circular_power(values: &[f64], n: f64) -> Vec<f64> {
    let complex = values.iter().map(|&re| Complex { re, im: 0.0 });
    let mut complex: Vec<Complex> = complex.collect();
    transform(&mut complex, -1.0);
    complex.iter_mut().for_each(|value| *value = value.power(n));
    transform(&mut complex, 1.0);
    let size = complex.len() as f64;
    complex.into_iter().map(|value| value.re / size).collect()
}

/// Cooley and Tukey's transform in place; `sign` is that of the exponent.
fn transform(values: &mut [Complex], sign: f64) {
    let size = values.len();
    if size < 2 {
        return;
    }
    let shift = usize::BITS - size.trailing_zeros();
    for i in 0..size {
        let reversed = i.reverse_bits() >> shift;
        if i < reversed {
            values.swap(i, reversed);
        }
    }
    // Each root by its own angle: products of roots would add up rounding errors.
    let roots = (0..size / 2).map(|i| Complex::of_angle(sign * TAU * i as f64 / size as f64));
    let roots: Vec<Complex> = roots.collect();
    let mut half = 1;
    while half < size {
        let step = size / (2 * half);
        for block in values.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            let pairs = low.iter_mut().zip(high).zip(roots.iter().step_by(step));
            for ((a, b), root) in pairs {
                let turned = b.times(*root);
                *b = Complex {
                    re: a.re - turned.re,
                    im: a.im - turned.im,
                };
                *a = Complex {
                    re: a.re + turned.re,
                    im: a.im + turned.im,
                };
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_is_a_convolution() {
        let values = [0.5, 0.2, 0.0, 0.1, 0.0, 0.0, 0.15, 0.05];
        let size = values.len();
        let mut expected = values.to_vec();
        for n in 1..6 {
            let found = circular_power(&values, f64::from(n));
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-15, "{found} {expected}");
            }
            let at = |i: usize| -> f64 {
                let terms = (0..size).map(|j| expected[j] * values[(i + size - j) % size]);
                terms.sum()
            };
            expected = (0..size).map(at).collect();
        }
        assert_eq!(circular_power(&[0.25], 2.0), [0.0625]);
    }
}
