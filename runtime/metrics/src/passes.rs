//! The privacy of noise on sums over cohorts in passes, in which each client takes part at most once (DP-FTRL).
//!
//! A pass adds noise either to the sum of each round, or to the nodes of a binary tree over its rounds. What is
//! published of a tree are sums of disjoint nodes, so that a client is in no more than its leaf and the nodes
//! above that are complete: `⌊log₂ n⌋ + 1` after `n` rounds (Kairouz et al. 2021, "Practical and Private (Deep)
//! Learning without Sampling or Shuffling", Appendix D, <https://arxiv.org/abs/2103.00039>). Each node is a
//! Gaussian mechanism of its own, on what may depend on all that was published before. Such mechanisms compose
//! without loss: `h` of them with `σ` are one with `σ / √h` (Dong, Roth and Su 2022, "Gaussian Differential
//! Privacy", section 3, <https://arxiv.org/abs/1905.02383>). It does not matter how clients are ordered, or
//! who knows their order.

use crate::MetricError;
use crate::privacy::gaussian_epsilon;

/// Noise on the sums of rounds, in passes over all clients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passes {
    /// The rounds of a pass.
    pub length: u64,
    /// Whether the noise is that of a tree over the rounds of a pass, and not of each round alone.
    pub tree: bool,
    /// `σ`: the standard deviation of the noise of a round, or of a node of the tree, in units of the most by
    /// which one client moves the sum of its round.
    pub noise: f64,
}

impl Passes {
    /// In how many noised sums one client is after so many rounds, at most.
    pub fn sums(&self, rounds: u64) -> u64 {
        let length = self.length.max(1);
        let of = |rounds: u64| match (rounds, self.tree) {
            (0, _) => 0,
            (_, false) => 1,
            (_, true) => u64::from(rounds.ilog2()) + 1,
        };
        rounds / length * of(length) + of(rounds % length)
    }

    /// The standard deviation of one Gaussian mechanism, in the same units, that is as private as so many
    /// rounds; infinite of none.
    pub fn sigma(&self, rounds: u64) -> f64 {
        self.noise / (self.sums(rounds) as f64).sqrt()
    }

    /// The smallest `ε` for which so many rounds together are `(ε, δ)`-differentially private.
    ///
    /// # Errors
    ///
    /// A parameter is out of its range.
    pub fn epsilon(&self, rounds: u64, delta: f64) -> Result<f64, MetricError> {
        match self.sums(rounds) {
            0 => Ok(0.0),
            sums => gaussian_epsilon((sums as f64).sqrt(), self.noise, delta),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In how many nodes the leaf that is in most is, of those that make up prefixes of at most `n` leaves.
    fn counted(n: u64) -> u64 {
        let mut nodes = std::collections::BTreeSet::new();
        for prefix in 1..=n {
            let mut end = prefix;
            while end > 0 {
                let size = 1 << end.trailing_zeros();
                nodes.insert((end - size, end));
                end -= size;
            }
        }
        let within = |leaf: u64| {
            nodes
                .iter()
                .filter(|(a, b)| (*a..*b).contains(&leaf))
                .count()
        };
        (0..n).map(within).max().unwrap_or(0) as u64
    }

    #[test]
    fn a_client_is_in_as_many_sums_as_its_leaf_has_nodes() {
        let tree = |length| Passes {
            length,
            tree: true,
            noise: 1.0,
        };
        for rounds in 0..70 {
            assert_eq!(tree(100).sums(rounds), counted(rounds), "{rounds}");
        }
        for length in [1, 5, 8] {
            for rounds in 0..30 {
                let passes = rounds / length;
                let expected = passes * counted(length) + counted(rounds % length);
                assert_eq!(tree(length).sums(rounds), expected, "{length} {rounds}");
            }
        }
    }

    #[test]
    fn without_a_tree_a_client_is_in_one_sum_of_each_pass() {
        let plain = Passes {
            length: 4,
            tree: false,
            noise: 3.0,
        };
        let found: Vec<u64> = (0..10).map(|rounds| plain.sums(rounds)).collect();
        assert_eq!(found, [0, 1, 1, 1, 1, 2, 2, 2, 2, 3]);
        assert_eq!(plain.epsilon(0, 1e-5), Ok(0.0));
        assert_eq!(plain.epsilon(4, 1e-5), gaussian_epsilon(1.0, 3.0, 1e-5));
        assert_eq!(
            plain.epsilon(9, 1e-5),
            gaussian_epsilon(3.0_f64.sqrt(), 3.0, 1e-5)
        );
        assert!(
            Passes {
                noise: 0.0,
                ..plain
            }
            .epsilon(1, 1e-5)
            .is_err()
        );
    }
}
