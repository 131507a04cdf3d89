//! Random splits into training and test examples.

use fedround_random::{Purpose, StreamKey, permutation};

/// Splits `0..n` into training and test indices, each in random order. The test gets one fifth, rounded
/// up (ADCOL: Li et al., 2023). `part` is the number of the part of a dataset that is split.
pub(super) fn hold_out(seed: u64, part: usize, n: usize) -> (Vec<usize>, Vec<usize>) {
    let mut test = permutation(n, StreamKey::new(seed, Purpose::HoldOut).with(part));
    let train = test.split_off(n.div_ceil(5));
    (train, test)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_paper() {
        // USPS, MNIST, SVHN, then Amazon, Caltech, DSLR and WebCam.
        let sizes = [9298, 70_000, 99_289, 958, 1123, 157, 295].map(|n| {
            let (train, test) = hold_out(1, 0, n);
            let mut all = [&train[..], &test].concat();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..n));
            [train.len(), test.len()]
        });
        let paper = [
            [7438, 1860],
            [56_000, 14_000],
            [79_431, 19_858],
            [766, 192],
            [898, 225],
            [125, 32],
            [236, 59],
        ];
        assert_eq!(sizes, paper);
    }
}
