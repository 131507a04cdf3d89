//! The scale of inputs.

use std::str::FromStr;

use fedround_random::{Purpose, StreamKey, permutation};
use serde::{Deserialize, Serialize};

use super::OwnDataError;
use crate::{DataError, Scale};

/// How inputs are scaled.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Normalize {
    /// By the mean and the standard deviation of the training examples: of each channel of images as bytes, of
    /// which a sample is measured; of each number of a row of numbers; of all elements of other arrays. Bundled
    /// datasets keep their own scale.
    #[default]
    Auto,
    /// Not at all; but bytes become numbers in [0, 1].
    None,
    /// `(x - mean) / std`, with one mean and one standard deviation for each channel, or one of both. Bytes
    /// count as numbers in [0, 1].
    By {
        /// The means.
        mean: Vec<f32>,
        /// The standard deviations.
        std: Vec<f32>,
    },
}

/// `auto`, `none`, `MEAN,STD`, or a mean and a standard deviation for each channel, with colons between
/// them: `0.5:0.4:0.3,0.2:0.2:0.2`.
impl FromStr for Normalize {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        let numbers = |part: &str| -> Option<Vec<f32>> {
            let number = |n: &str| n.trim().parse().ok().filter(|x: &f32| x.is_finite());
            part.split(':').map(number).collect()
        };
        match text.trim() {
            "auto" => return Ok(Self::Auto),
            "none" => return Ok(Self::None),
            text => {
                if let Some((mean, std)) = text.split_once(',')
                    && let (Some(mean), Some(std)) = (numbers(mean), numbers(std))
                    && mean.len() == std.len()
                    && std.iter().all(|s| s.is_normal())
                {
                    return Ok(Self::By { mean, std });
                }
            }
        }
        let expected = "auto, none, or MEAN,STD with a standard deviation other than 0, as in 0.5,0.25; \
                        for each channel, as in 0.5:0.4:0.3,0.2:0.2:0.2";
        Err(OwnDataError::word("normalize", text, expected).into())
    }
}

impl Normalize {
    /// The scale of bytes; `measure` finds the mean and the standard deviation of each channel.
    pub(super) fn of_bytes(
        &self,
        measure: impl FnOnce() -> Result<(Vec<f32>, Vec<f32>), DataError>,
    ) -> Result<Scale, DataError> {
        Ok(match self {
            Self::None => Scale::Unit,
            Self::By { mean, std } => Scale::normalised(mean, std),
            Self::Auto => {
                let (mean, std) = measure()?;
                Scale::normalised(&mean, &std)
            }
        })
    }

    /// The scale of numbers, found on the examples `train` of so many `features`: one for each number of an
    /// example, or one for all. `number` gives them, example by example.
    pub(super) fn of_numbers(
        &self,
        train: &[usize],
        (features, each): (usize, bool),
        number: impl Fn(usize) -> f64,
    ) -> Result<NumberScale, DataError> {
        let of = |numbers: &mut dyn Iterator<Item = usize>| {
            let (mean, std) = moments(numbers.map(&number));
            [mean, std]
        };
        let pairs = match self {
            Self::None => vec![[0.0, 1.0]],
            Self::Auto if each => {
                let column = |i: usize| of(&mut train.iter().map(|row| row * features + i));
                (0..features).map(column).collect()
            }
            Self::Auto => vec![of(&mut train
                .iter()
                .flat_map(|row| row * features..(row + 1) * features))],
            Self::By { mean, std } => match (&mean[..], &std[..]) {
                ([mean], [std]) => vec![[f64::from(*mean), f64::from(*std)]],
                _ => return Err(OwnDataError::OneScale { found: mean.len() }.into()),
            },
        };
        Ok(NumberScale(pairs))
    }
}

/// The mean and the standard deviation of each number of an example, or of all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NumberScale(Vec<[f64; 2]>);

/// Numbers stay as they are.
impl Default for NumberScale {
    fn default() -> Self {
        Self(vec![[0.0, 1.0]])
    }
}

impl NumberScale {
    /// Scales an example of numbers in single precision.
    pub fn apply(&self, example: &mut [f32]) {
        for (x, [mean, std]) in example.iter_mut().zip(self.0.iter().cycle()) {
            *x = (*x - *mean as f32) / *std as f32;
        }
    }

    /// Scales the number `at` of an example. It stays in double precision until then, so that large numbers that
    /// differ little, such as times, keep their differences.
    pub fn scaled(&self, x: f64, at: usize) -> f32 {
        let [mean, std] = self.0[at % self.0.len()];
        ((x - mean) / std) as f32
    }

    /// The number that 0 becomes, which is the black of images. They have one scale for all numbers.
    pub(super) fn black(&self) -> f32 {
        let mut number = [0.0];
        self.apply(&mut number);
        number[0]
    }

    /// Whether the numbers were small enough to find their scale.
    pub(super) fn is_finite(&self) -> bool {
        self.0.iter().flatten().all(|x| x.is_finite())
    }
}

/// A random sample of at most `most` of `n` examples, in order. It is the same for every seed. (The first ones
/// would not do: files often have their examples class by class.)
pub(super) fn sample(n: usize, most: usize) -> Vec<usize> {
    let mut all = permutation(n, StreamKey::new(0, Purpose::HoldOut).with(1));
    all.truncate(most);
    all.sort_unstable();
    all
}

/// The mean and the standard deviation. That of a constant counts as 1, and so does one that only rounding of a mean
/// other than 0 makes, or that single precision lacks.
pub(super) fn moments(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    // Welford's recurrence, which loses no digits where the mean is large.
    let (mut n, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for x in numbers {
        n += 1.0;
        let difference = x - mean;
        mean += difference / n;
        squares += difference * (x - mean);
    }
    let std = (squares / f64::max(n, 1.0)).sqrt();
    let rounding = 1e-12 * mean.abs().min(1.0);
    let varies = std > rounding && std >= f64::from(f32::MIN_POSITIVE);
    (mean, if varies { std } else { 1.0 })
}

/// The mean and the standard deviation of each channel of images as bytes, in units of the whole range.
pub(super) fn of_channels(bytes: &[u8], channels: usize, plane: usize) -> (Vec<f32>, Vec<f32>) {
    let of = |channel: usize| {
        let images = bytes.chunks_exact(channels * plane);
        let pixels = images.flat_map(|image| &image[channel * plane..(channel + 1) * plane]);
        let (mean, std) = moments(pixels.map(|&byte| f64::from(byte) / 255.0));
        (mean as f32, std as f32)
    };
    (0..channels).map(of).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_are_no_constant() {
        let std = |numbers: &[f64]| moments(numbers.iter().copied()).1;
        for scale in [1e30, 1.0, 1e-13, 1e-30] {
            let found = std(&[scale, 3.0 * scale]) / scale;
            assert!((found - 1.0).abs() < 1e-9, "{found} of {scale}");
        }
        for constant in [0.0, 0.1, 1e-13, 1e9] {
            assert_eq!(std(&[constant; 3]), 1.0);
        }
        assert_eq!(std(&[0.3, 0.1 + 0.2]), 1.0);
        assert_eq!(std(&[1e-40, 3e-40]), 1.0);
    }
}
