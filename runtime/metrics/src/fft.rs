//! The fast Fourier transform, for powers of distributions.

use std::f64::consts::TAU;

use nalgebra::Complex;

/// The `n`-fold circular convolution of some values with themselves. Their number must be a power of two.
pub(crate) fn circular_power(values: &[f64], n: f64) -> Vec<f64> {
    let complex = values.iter().map(|&re| Complex::new(re, 0.0));
    let mut complex: Vec<Complex<f64>> = complex.collect();
    transform(&mut complex, -1.0);
    complex.iter_mut().for_each(|value| *value = value.powf(n));
    transform(&mut complex, 1.0);
    let size = complex.len() as f64;
    complex.into_iter().map(|value| value.re / size).collect()
}

/// Cooley and Tukey's transform in place; `sign` is that of the exponent.
fn transform(values: &mut [Complex<f64>], sign: f64) {
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
    let roots = (0..size / 2).map(|i| Complex::cis(sign * TAU * i as f64 / size as f64));
    let roots: Vec<Complex<f64>> = roots.collect();
    let mut half = 1;
    while half < size {
        let step = size / (2 * half);
        for block in values.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            let pairs = low.iter_mut().zip(high).zip(roots.iter().step_by(step));
            for ((a, b), root) in pairs {
                let turned = *b * root;
                *b = *a - turned;
                *a += turned;
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
