//! Permutations and vectors of numbers, each of which is a function of a key.

use crate::StreamKey;

/// A random permutation of `0..n`: each number gets a word of the stream, and they are sorted by their words.
pub fn permutation(n: usize, key: StreamKey) -> Vec<usize> {
    let mut keyed: Vec<(u64, usize)> = key.stream().zip(0..n).collect();
    // Equal words are ordered by the index, so the result does not depend on the sort algorithm.
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, i)| i).collect()
}

/// The first `m` elements of [`permutation`], in time linear in `n` and memory linear in `m`.
pub fn first_permuted(n: usize, m: usize, key: StreamKey) -> Vec<usize> {
    let m = m.min(n);
    let mut smallest: Vec<(u64, usize)> = Vec::with_capacity(2 * m);
    // The `m`-th smallest word so far. A larger word cannot be among the first `m`.
    let mut limit = u64::MAX;
    for (word, i) in key.stream().zip(0..n) {
        if word > limit {
            continue;
        }
        smallest.push((word, i));
        if smallest.len() == 2 * m {
            limit = smallest.select_nth_unstable(m - 1).1.0;
            smallest.truncate(m);
        }
    }
    smallest.sort_unstable();
    smallest.truncate(m);
    smallest.into_iter().map(|(_, i)| i).collect()
}

/// `n` uniform numbers in `[-bound, bound)`. Each is computed from the 24 high bits of a word in double precision,
/// and rounded once.
pub fn uniform(n: usize, bound: f64, key: StreamKey) -> Vec<f32> {
    let number = |word: u64| {
        let unit = (word >> 40) as f64 / (1u64 << 24) as f64;
        ((2.0 * unit - 1.0) * bound) as f32
    };
    key.stream().take(n).map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Purpose, SEED};

    fn key(part: usize) -> StreamKey {
        StreamKey::root(SEED).with(part)
    }

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
                let mut all = permutation(n, key(seed));
                all.truncate(m);
                assert_eq!(first_permuted(n, m, key(seed)), all, "{m} of {n}");
            }
        }
    }

    #[test]
    fn words_are_those_of_the_specification() {
        let found: Vec<u64> = key(1).with(2).stream().take(3).collect();
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
        assert_eq!(permutation(10, key(5)), [1, 5, 2, 3, 0, 9, 8, 6, 4, 7]);
        assert_eq!(permutation(0, key(5)), [0; 0]);
    }

    #[test]
    fn uniform_numbers_are_those_of_the_specification() {
        let expected = [
            -0.628_872_275_352_478,
            -0.955_060_124_397_277_8,
            -0.823_837_518_692_016_6,
        ];
        assert_eq!(uniform(3, 1.0, key(5)), expected.map(|v: f64| v as f32));
    }

    #[test]
    fn initial_parameters_have_the_norm_of_the_specification() {
        // lr-mnist: 784 inputs, 10 outputs.
        let bound = 784f64.powf(-0.5);
        let init = StreamKey::new(SEED, Purpose::Init).with(0);
        let weights = uniform(7840, bound, init.with(0));
        let biases = uniform(10, bound, init.with(1));
        let square: f64 = weights
            .iter()
            .chain(&biases)
            .map(|&v| f64::from(v).powi(2))
            .sum();
        assert_eq!(format!("{:.6}", square.sqrt()), "1.820147");
    }
}
