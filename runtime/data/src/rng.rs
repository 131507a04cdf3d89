//! Counter-based random streams (SplitMix64).
//!
//! A stream is named by a seed and a key of integers. Its state is folded from
//! them, `state = mix(state + G * (k + 1))` for each `k` of the key, and its
//! word `i`, counted from 1, is `mix(state + G * i)`, all modulo 2^64. Any word
//! of any stream is therefore a pure function of the seed, the key and `i`.
//!
//! The first word of a key is the stream's purpose ([`INIT`] and its siblings),
//! so that streams of different purposes never meet.

/// The seed of the benchmark tasks.
pub const SEED: u64 = 20260;

/// Purpose: initial parameters, key `[INIT, layer, 0 for weights or 1 for biases]`.
pub const INIT: u64 = 1;
/// Purpose: dealing the training set to clients.
pub const PARTITION: u64 = 2;
/// Purpose: the cohort of a round, key `[SAMPLE, round]`.
pub const SAMPLE: u64 = 3;
/// Purpose: a client's order of examples, key `[SHUFFLE, round, client]`.
pub const SHUFFLE: u64 = 4;
/// Purpose: drawing synthetic examples, key `[SYNTH, split, example]`.
pub const SYNTH: u64 = 5;
/// Purpose: random numbers of a step, such as dropout's masks; see [`noise`](crate::noise).
pub const NOISE: u64 = 6;
/// Purpose: dealing what is not split by its publisher to training and test.
pub const SPLIT: u64 = 10;
/// Purpose: the first centres of [`Topics`](crate::text::Topics).
pub const TOPICS: u64 = 11;
/// Purpose: splitting examples into training and test, key `[HOLD_OUT, part]`.
pub const HOLD_OUT: u64 = 20;
/// Purpose: changes of an image, key `[AUGMENT, round, client, epoch, example]`.
pub const AUGMENT: u64 = 21;
/// Purpose: who goes and who comes where cohorts rotate, key `[ROTATE, round, 0 or 1]`.
pub const ROTATE: u64 = 22;
/// Purpose: the order of rows of a value, key `[ROWS, round, who, run, epoch]`.
pub const ROWS: u64 = 8;
/// Purpose: random numbers of a forward pass in evaluation, key `[EVALUATE, round, chunk, stream]`.
pub const EVALUATE: u64 = 7;

const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// An endless stream of random words; see [`words`].
#[derive(Clone, Debug)]
pub struct Words {
    state: u64,
}

/// The stream named by `seed` and `key`, from its first word.
pub fn words(seed: u64, key: &[u64]) -> Words {
    let state = key.iter().fold(seed, |state, k| {
        mix(state.wrapping_add(GAMMA.wrapping_mul(k.wrapping_add(1))))
    });
    Words { state }
}

impl Words {
    /// The next word.
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

    /// An integer in `0..n`, or 0 where `n` is 0. The bias is below `n / 2^64`.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.word()) * n as u128) >> 64) as usize
    }

    /// A standard normal number (Box-Muller; two words each).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

impl Iterator for Words {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(self.word())
    }
}

/// The numbers `0..n`, sorted stably by the words of the stream.
pub fn permutation(seed: u64, n: usize, key: &[u64]) -> Vec<usize> {
    let mut keyed: Vec<(u64, usize)> = words(seed, key).zip(0..n).collect();
    // The index breaks ties, which makes the unstable sort a stable one.
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, i)| i).collect()
}

/// The first `m` of [`permutation`], without the rest: in time linear in `n`, and memory in `m`.
pub fn first_permuted(seed: u64, n: usize, m: usize, key: &[u64]) -> Vec<usize> {
    let m = m.min(n);
    let mut least: Vec<(u64, usize)> = Vec::with_capacity(2 * m);
    // The `m`-th of the words so far: what is above it is not among the first.
    let mut limit = u64::MAX;
    for (word, i) in words(seed, key).zip(0..n) {
        if word > limit {
            continue;
        }
        least.push((word, i));
        if least.len() == 2 * m {
            limit = least.select_nth_unstable(m - 1).1.0;
            least.truncate(m);
        }
    }
    least.sort_unstable();
    least.truncate(m);
    least.into_iter().map(|(_, i)| i).collect()
}

/// `n` numbers in `[-bound, bound)`: the 24 high bits of each word, computed in
/// double precision and rounded once.
pub fn uniform(seed: u64, n: usize, bound: f64, key: &[u64]) -> Vec<f32> {
    words(seed, key)
        .take(n)
        .map(|word| {
            let unit = (word >> 40) as f64 / (1u64 << 24) as f64;
            ((2.0 * unit - 1.0) * bound) as f32
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_a_permutation_are_found_without_the_rest() {
        for (n, m) in [
            (0, 0),
            (1, 1),
            (5, 0),
            (7, 7),
            (9, 5),
            (1000, 1),
            (1000, 10),
            (3, 8),
        ] {
            for seed in 0..5 {
                let mut all = permutation(seed, n, &[3]);
                all.truncate(m);
                assert_eq!(first_permuted(seed, n, m, &[3]), all, "{m} of {n}");
            }
        }
    }

    #[test]
    fn words_are_those_of_the_specification() {
        let found: Vec<u64> = words(SEED, &[1, 2]).take(3).collect();
        assert_eq!(
            found,
            [
                0xbe9f_c0e3_2bd3_8e2c,
                0x9abf_3275_a756_c021,
                0xc05d_fdba_192a_d0b5
            ]
        );
    }

    #[test]
    fn permutations_are_those_of_the_specification() {
        assert_eq!(permutation(SEED, 10, &[5]), [1, 5, 2, 3, 0, 9, 8, 6, 4, 7]);
        assert_eq!(permutation(SEED, 0, &[5]), [0; 0]);
    }

    #[test]
    fn uniform_numbers_are_those_of_the_specification() {
        let expected = [
            -0.628_872_275_352_478,
            -0.955_060_124_397_277_8,
            -0.823_837_518_692_016_6,
        ];
        assert_eq!(uniform(SEED, 3, 1.0, &[5]), expected.map(|v: f64| v as f32));
    }

    #[test]
    fn initial_parameters_have_the_norm_of_the_specification() {
        // lr-mnist: 784 inputs, 10 outputs.
        let bound = 784f64.powf(-0.5);
        let weights = uniform(SEED, 7840, bound, &[INIT, 0, 0]);
        let biases = uniform(SEED, 10, bound, &[INIT, 0, 1]);
        let square: f64 = weights
            .iter()
            .chain(&biases)
            .map(|&v| f64::from(v).powi(2))
            .sum();
        assert_eq!(format!("{:.6}", square.sqrt()), "1.820147");
    }

    #[test]
    fn helpers_stay_in_their_ranges() {
        let mut stream = words(3, &[]);
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
