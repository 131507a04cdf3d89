//! The conversion of bytes to numbers.

use std::sync::Arc;

/// How a byte becomes a number.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// `u / 255`, in `[0, 1]`.
    Unit,
    /// `(u / 255 - 0.5) / 0.25`, in `[-2, 2]`.
    Centred,
    /// `(u / 255 - mean) / std`; see [`Scale::normalised`].
    Normalised {
        /// The mean of each channel, or one for all.
        mean: Arc<[f32]>,
        /// The standard deviation of each channel, or one for all.
        std: Arc<[f32]>,
    },
}

impl Scale {
    /// `(u / 255 - mean) / std`. There is one mean and one standard deviation for each channel, or one of
    /// both for all channels, in units of the whole range.
    pub fn normalised(mean: &[f32], std: &[f32]) -> Self {
        Self::Normalised {
            mean: mean.into(),
            std: std.into(),
        }
    }

    /// The mean and the standard deviation of each channel, or one of both for all.
    pub fn mean_and_std(&self) -> (Vec<f32>, Vec<f32>) {
        match self {
            Self::Unit => (vec![0.0], vec![1.0]),
            Self::Centred => (vec![0.5], vec![0.25]),
            Self::Normalised { mean, std } => (mean.to_vec(), std.to_vec()),
        }
    }

    /// Whether the scale fits examples with this many channels.
    pub(super) fn fits(&self, channels: usize) -> bool {
        let Self::Normalised { mean, std } = self else {
            return true;
        };
        let sound = mean.iter().all(|m| m.is_finite()) && std.iter().all(|&s| s.is_normal());
        sound && mean.len() == std.len() && [1, channels].contains(&mean.len())
    }

    /// Writes the number that a byte 0 becomes, for each channel.
    pub(super) fn black(&self, numbers: &mut [f32]) {
        for (channel, number) in numbers.iter_mut().enumerate() {
            *number = match self {
                Self::Unit => 0.0,
                Self::Centred => -2.0,
                Self::Normalised { mean, std } => {
                    let at = channel.min(mean.len().saturating_sub(1));
                    -mean[at] / std[at]
                }
            };
        }
    }

    /// Writes the numbers of one example's `bytes` (channel planes) to as many `numbers`, in single
    /// precision.
    ///
    /// Every batch of every step passes through here, so this is computed with the widest vectors of the
    /// processor, which is faster than a table look-up.
    pub fn apply(&self, bytes: &[u8], numbers: &mut [f32]) {
        match self {
            Self::Unit => map(bytes, numbers, |u| u / 255.0),
            Self::Centred => map(bytes, numbers, |u| (u / 255.0 - 0.5) / 0.25),
            Self::Normalised { mean, std } => {
                let plane = (bytes.len() / mean.len().max(1)).max(1);
                let planes = bytes.chunks(plane).zip(numbers.chunks_mut(plane));
                for ((bytes, numbers), (&mean, &std)) in planes.zip(mean.iter().zip(&std[..])) {
                    // Moved, not borrowed: the output might alias a borrowed value, and the compiler would
                    // not vectorise the loop.
                    map(bytes, numbers, move |u| (u / 255.0 - mean) / std);
                }
            }
        }
    }
}

fn map(bytes: &[u8], numbers: &mut [f32], f: impl Fn(f32) -> f32) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for (x, &u) in numbers.iter_mut().zip(bytes) {
                *x = f(f32::from(u));
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_span_their_ranges() {
        let bytes: Vec<u8> = (0..=255).collect();
        let (mut unit, mut centred) = ([f32::NAN; 256], [f32::NAN; 256]);
        Scale::Unit.apply(&bytes, &mut unit);
        Scale::Centred.apply(&bytes, &mut centred);
        assert_eq!((unit[0], unit[255]), (0.0, 1.0));
        assert_eq!((centred[0], centred[255]), (-2.0, 2.0));
        // Division, not multiplication by the rounded 1 / 255.
        assert!((0..=255u8).all(|u| unit[usize::from(u)] == f32::from(u) / 255.0));
    }

    #[test]
    fn every_channel_has_its_own_mean() {
        let scale = Scale::normalised(&[0.0, 1.0, 0.5], &[1.0, 1.0, 0.5]);
        let mut numbers = [f32::NAN; 6];
        scale.apply(&[255, 0, 255, 0, 255, 0], &mut numbers);
        assert_eq!(numbers, [1.0, 0.0, 0.0, -1.0, 1.0, -1.0]);
        assert!(scale.fits(3) && !scale.fits(1));
        assert!(!Scale::normalised(&[0.0], &[0.0]).fits(1));
    }
}
