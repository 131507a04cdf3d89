//! Fills buffers with random numbers from one stream.
//!
//! One 64-bit word of the stream gives two numbers, so a buffer of `n` elements takes `⌈n / 2⌉` words. A short
//! buffer gets the same numbers as the beginning of a longer one.

use crate::Stream;

/// Fills `out` with numbers that are uniform in `[low, high)`, in steps of `(high − low) / 2²⁴`. A number that is
/// rounded to `high` becomes the largest one below.
pub fn uniform(out: &mut [f32], (low, high): (f64, f64), stream: &mut Stream) {
    let step = (high - low) / f64::from(1u32 << 24);
    let largest = match high as f32 {
        single if f64::from(single) < high => single,
        single => single.next_down().max(low as f32),
    };
    fill_from_halves(out, stream, |half| {
        let x = (low + step * f64::from(half >> 8)) as f32;
        // What is not a number stays so.
        if x > largest { largest } else { x }
    });
}

/// Fills `out` with ones, each with probability `p`, and zeros. `p` is rounded to a multiple of 2⁻³².
pub fn bernoulli(out: &mut [f32], p: f64, stream: &mut Stream) {
    let ones = (p * (1u64 << 32) as f64).round() as u64;
    fill_from_halves(out, stream, |half| {
        f32::from(u8::from(u64::from(half) < ones))
    });
}

/// Fills `out` with normal numbers of the given mean and standard deviation (Box-Muller, with both
/// numbers of each pair used).
pub fn normal(out: &mut [f32], (mean, std): (f64, f64), stream: &mut Stream) {
    const UNIT: f64 = 1.0 / (1u64 << 32) as f64;
    for pair in out.chunks_mut(2) {
        let [low, high] = split_word(stream.word()).map(f64::from);
        // `low + 1` makes the argument of the logarithm at most 1 and never 0.
        let radius = std * (-2.0 * ((low + 1.0) * UNIT).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * high * UNIT).sin_cos();
        for (x, part) in pair.iter_mut().zip([cos, sin]) {
            *x = (mean + radius * part) as f32;
        }
    }
}

/// The low and the high half of a word.
fn split_word(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// Fills `out` with numbers that `number` computes from 32 random bits each.
fn fill_from_halves(out: &mut [f32], stream: &mut Stream, number: impl Fn(u32) -> f32) {
    for pair in out.chunks_mut(2) {
        for (x, half) in pair.iter_mut().zip(split_word(stream.word())) {
            *x = number(half);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Purpose, StreamKey};

    const N: usize = 200_001;

    fn moments(fill: impl Fn(&mut [f32], &mut Stream)) -> (Vec<f32>, f64, f64) {
        let mut out = vec![f32::NAN; N];
        fill(
            &mut out,
            &mut StreamKey::new(7, Purpose::Noise).with(1).stream(),
        );
        let mean = out.iter().copied().map(f64::from).sum::<f64>() / N as f64;
        let square = |x: &f32| (f64::from(*x) - mean).powi(2);
        let var = out.iter().map(square).sum::<f64>() / N as f64;
        (out, mean, var)
    }

    #[test]
    fn uniform_numbers_fill_their_range() {
        let (out, mean, var) = moments(|out, s| uniform(out, (-1.0, 3.0), s));
        assert!(out.iter().all(|x| (-1.0..3.0).contains(x)));
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert!((var - 16.0 / 12.0).abs() < 0.02, "{var}");
    }

    #[test]
    fn bernoulli_numbers_are_ones_and_zeros() {
        let (out, mean, _) = moments(|out, s| bernoulli(out, 0.3, s));
        assert!(out.iter().all(|&x| x == 0.0 || x == 1.0));
        assert!((mean - 0.3).abs() < 0.005, "{mean}");
        for p in [0.0, 1.0] {
            let (out, ..) = moments(|out, s| bernoulli(out, p, s));
            assert!(out.iter().all(|&x| f64::from(x) == p));
        }
    }

    #[test]
    fn normal_numbers_have_their_moments() {
        let (out, mean, var) = moments(|out, s| normal(out, (2.0, 3.0), s));
        assert!((mean - 2.0).abs() < 0.03, "{mean}");
        assert!((var - 9.0).abs() < 0.1, "{var}");
        // 95.45 % of a normal distribution is within two standard deviations.
        let near = out.iter().filter(|x| (*x - 2.0).abs() < 6.0).count();
        assert!((near as f64 / N as f64 - 0.9545).abs() < 0.002);
        // The two numbers of a pair are not correlated.
        let pairs = out.chunks_exact(2);
        let product = |p: &[f32]| f64::from((p[0] - 2.0) * (p[1] - 2.0));
        let covariance = pairs.map(product).sum::<f64>() / (N / 2) as f64;
        assert!(covariance.abs() < 0.1, "{covariance}");
    }

    /// Single precision has no number between these two, and half of the draws are closer to the upper one.
    #[test]
    fn uniform_numbers_are_not_rounded_to_the_end_of_their_range() {
        let fill = |low: f64, high: f64| {
            let (out, ..) = moments(|out, s| uniform(out, (low, high), s));
            out
        };
        assert!(
            fill(16_777_215.0, 16_777_216.0)
                .iter()
                .all(|&x| x == 16_777_215.0)
        );
        assert!(fill(5.0, 5.0).iter().all(|&x| x == 5.0));
    }

    #[test]
    fn a_prefix_is_a_prefix() {
        let fill = |n: usize| {
            let mut out = vec![0.0; n];
            uniform(
                &mut out,
                (0.0, 1.0),
                &mut StreamKey::root(1).with(2).stream(),
            );
            out
        };
        assert_eq!(fill(9)[..5], fill(5));
    }
}
