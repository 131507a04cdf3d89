//! A stream of random numbers: the generator SplitMix64.

use std::f64::consts::TAU;

/// SplitMix64's increment: 2⁶⁴ divided by the golden ratio.
const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// SplitMix64's output function.
fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The state of a key after one more part.
pub(crate) fn fold(state: u64, part: u64) -> u64 {
    mix(state.wrapping_add(GAMMA.wrapping_mul(part.wrapping_add(1))))
}

/// An endless sequence of random numbers, by SplitMix64 from the state of a [`StreamKey`](crate::StreamKey). As an
/// iterator it gives 64-bit words.
#[derive(Clone, Debug)]
pub struct Stream {
    state: u64,
}

impl Stream {
    pub(crate) fn from_state(state: u64) -> Self {
        Self { state }
    }

    /// The next 64 random bits.
    pub fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// A number in `[0, 1)`, from the 53 high bits of a word.
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number in `[low, high)`.
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// An integer in `0..n`, or 0 if `n` is 0. Its bias is below `n / 2⁶⁴`.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.word()) * n as u128) >> 64) as usize
    }

    /// A standard normal number (Box-Muller), from two words.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (TAU * self.unit()).cos()
    }
}

impl Iterator for Stream {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(self.word())
    }
}

#[cfg(test)]
mod tests {
    use crate::StreamKey;

    #[test]
    fn numbers_stay_in_their_ranges_and_have_their_means() {
        let mut stream = StreamKey::root(3).stream();
        let mut sum = [0.0; 3];
        for _ in 0..100_000 {
            let (unit, below, normal) = (stream.unit(), stream.below(7), stream.normal());
            assert!((0.0..1.0).contains(&unit) && below < 7);
            assert!((-2.0..5.0).contains(&stream.range(-2.0, 5.0)));
            sum = [
                sum[0] + unit,
                sum[1] + below as f64,
                sum[2] + normal * normal,
            ];
        }
        let mean = sum.map(|s| s / 100_000.0);
        for (mean, expected) in mean.into_iter().zip([0.5, 3.0, 1.0]) {
            assert!((mean - expected).abs() < 0.02, "{mean} for {expected}");
        }
        assert_eq!(stream.below(0), 0);
    }
}
