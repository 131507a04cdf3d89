//! Noise of differential privacy. Its tails have no end, and it may come from a secret source.
//!
//! A privacy bound is a statement about the tails of the noise. If the noise is computed from a uniform number
//! of `b` bits, its tails end where their probability is `2⁻ᵇ`, and a value beyond that end reveals from which of
//! two datasets it comes. Here, the number of leading zeros of the uniform number is drawn over as many words as
//! needed, so that a tail ends only at the largest number of the type.
//!
//! The noise is rounded to `f32`. Privacy bounds hold for real numbers, and the lowest bits of a sum with noise
//! can reveal more (Mironov 2012, "On Significance of the Least Significant Bits for Differential Privacy").

use std::f64::consts::{LN_2, TAU};
use std::fmt;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use crate::{Stream, StreamKey};

/// A secret of 256 bits from which noise is drawn. Whoever knows it can compute the noise and subtract it. The
/// same holds for the seed of a run without a secret.
#[derive(Clone)]
pub struct NoiseKey([u8; 32]);

/// The error of a system that gives no random bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the system gives no random bytes for the noise of differential privacy: {0}; reproducible noise needs none"
)]
pub struct NoSecret(String);

impl NoiseKey {
    /// A fresh secret from the system's generator.
    ///
    /// # Errors
    ///
    /// The system gives no random bytes.
    pub fn from_system() -> Result<Self, NoSecret> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| NoSecret(error.to_string()))?;
        Ok(Self(key))
    }
}

impl fmt::Debug for NoiseKey {
    /// Does not print the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NoiseKey(..)")
    }
}

/// A source of random 64-bit words for noise.
pub enum Words {
    /// Words from the run's seed, the same in each run.
    Reproducible(Stream),
    /// Words from a secret, by ChaCha with 20 rounds.
    Secret(Box<ChaCha20Rng>),
}

/// The words of the stream that `key` names, from the secret if there is one, and from the seed otherwise.
pub fn words(key: StreamKey, secret: Option<&NoiseKey>) -> Words {
    match secret {
        None => Words::Reproducible(key.stream()),
        Some(NoiseKey(secret)) => {
            let mut generator = ChaCha20Rng::from_seed(*secret);
            generator.set_stream(key.number());
            Words::Secret(Box::new(generator))
        }
    }
}

impl Words {
    fn word(&mut self) -> u64 {
        match self {
            Self::Reproducible(stream) => stream.word(),
            Self::Secret(generator) => generator.next_u64(),
        }
    }
}

/// An exponentially distributed number of mean 1: `−ln u` for a uniform `u = 2⁻ᶻ m`, with `m` in `(½, 1)` and the
/// number of leading zeros `z`.
fn exponential(word: &mut impl FnMut() -> u64) -> f64 {
    let mut zeros = 0;
    loop {
        let bits = word();
        zeros += bits.leading_zeros();
        if bits != 0 {
            break;
        }
    }
    let m = 0.5 + 0.5 * unit(word());
    f64::from(zeros) * LN_2 - m.ln()
}

/// A uniform number in `(0, 1)`: the middle of one of 2⁵² equal steps.
fn unit(word: u64) -> f64 {
    ((word >> 12) as f64 + 0.5) / (1u64 << 52) as f64
}

/// Fills `out` with standard normal numbers (Box-Muller, with both numbers of each pair used).
pub fn gaussian(out: &mut [f32], words: &mut Words) {
    let mut word = || words.word();
    for pair in out.chunks_mut(2) {
        let radius = (2.0 * exponential(&mut word)).sqrt();
        let (sin, cos) = (TAU * unit(word())).sin_cos();
        for (x, part) in pair.iter_mut().zip([cos, sin]) {
            *x = (radius * part) as f32;
        }
    }
}

/// Fills `out` with numbers of a Laplace distribution of scale 1.
pub fn laplace(out: &mut [f32], words: &mut Words) {
    let mut word = || words.word();
    for x in out {
        let size = exponential(&mut word);
        let signed = if word() >> 63 == 0 { size } else { -size };
        *x = signed as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 1_000_000;

    /// Checks the noise from a seed and from a secret, and that each repeats for the same key.
    fn check_sources(fill: fn(&mut [f32], &mut Words), check: impl Fn(&[f32])) {
        let secret = NoiseKey::from_system().unwrap();
        let key = StreamKey::root(3);
        let mut outputs = vec![];
        for secret in [None, Some(&secret)] {
            let mut out = vec![0.0; N];
            fill(&mut out, &mut words(key, secret));
            check(&out);
            let mut again = vec![0.0; 9];
            fill(&mut again, &mut words(key, secret));
            assert_eq!(again, out[..9]);
            outputs.push(out);
        }
        assert_ne!(outputs[0], outputs[1]);
    }

    /// The fraction of numbers whose magnitude is above `x`.
    fn tail(out: &[f32], x: f32) -> f64 {
        out.iter().filter(|v| v.abs() > x).count() as f64 / N as f64
    }

    #[test]
    fn gaussian_noise_has_its_tails() {
        check_sources(gaussian, |out| {
            for (x, expected) in [(1.0, 0.317_311), (2.0, 0.045_5), (3.0, 0.002_7)] {
                let found = tail(out, x);
                // Five standard deviations of a count.
                let error = 5.0 * (expected / N as f64).sqrt();
                assert!((found - expected).abs() < error, "{x}: {found}");
            }
            let mean = out.iter().map(|v| f64::from(*v)).sum::<f64>() / N as f64;
            assert!(mean.abs() < 5e-3, "{mean}");
        });
    }

    #[test]
    fn laplace_noise_has_its_tails() {
        check_sources(laplace, |out| {
            for x in [0.5_f32, 2.0, 5.0, 9.0] {
                let (found, expected) = (tail(out, x), f64::from(-x).exp());
                let error = 5.0 * (expected / N as f64).sqrt();
                assert!((found - expected).abs() < error, "{x}: {found}");
            }
            let positive = out.iter().filter(|v| **v > 0.0).count() as f64 / N as f64;
            assert!((positive - 0.5).abs() < 5e-3, "{positive}");
        });
    }

    /// With a uniform number of 32 bits, Gaussian noise would end at 6.66 standard deviations; with 24 bits, Laplace
    /// noise would end at 15.4 scales.
    #[test]
    fn tails_have_no_end() {
        // 255 leading zeros, three words of 64 and one of 63. From a word alone, the number would be 0.
        let mut words = [0, 0, 0, 1, u64::MAX].into_iter();
        let drawn = exponential(&mut || words.next().unwrap());
        assert!((drawn - 255.0 * LN_2).abs() < 1e-9, "{drawn}");
        assert!((2.0 * drawn).sqrt() > 18.0 && drawn > 176.0);
    }
}
