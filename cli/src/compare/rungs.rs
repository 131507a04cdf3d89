//! The steps of successive halving: how many candidates are trained for how many rounds.

use super::error::CompareError;

/// How many of the candidates go on, and after how many rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Halving {
    /// One candidate in this many continues.
    pub keep_one_in: usize,
    /// Rounds of the candidate that reaches the end.
    pub rounds: usize,
    /// No step is shorter: a run must reach the round in which a late client joins.
    pub min_rounds: usize,
    /// Each step ends with an evaluation that a longer run has as well.
    pub eval_every: usize,
}

/// Some candidates, and the rounds to which they are trained.
#[derive(Debug, PartialEq)]
pub(super) struct Rung {
    pub candidates: usize,
    pub rounds: usize,
}

impl Halving {
    /// Reads the command line.
    pub fn new(
        keep_one_in: usize,
        rounds: usize,
        min_rounds: usize,
        eval_every: usize,
    ) -> Result<Self, CompareError> {
        match keep_one_in {
            0 | 1 => Err(CompareError::Halving { found: keep_one_in }),
            keep_one_in => Ok(Self {
                keep_one_in,
                rounds,
                min_rounds,
                eval_every: eval_every.max(1),
            }),
        }
    }

    /// From all candidates to one. Each rung has `keep_one_in` times fewer candidates and `keep_one_in` times more
    /// rounds than the one before it, but at least `min_rounds`, up to the next evaluation or to the end.
    pub fn rungs(self, candidates: usize) -> Vec<Rung> {
        let mut sizes = vec![candidates];
        while let Some(last) = sizes.last().copied().filter(|last| *last > 1) {
            sizes.push(last.div_ceil(self.keep_one_in));
        }
        let last = sizes.len() - 1;
        let rung = |(i, candidates): (usize, usize)| {
            let parts = self.keep_one_in.checked_pow((last - i) as u32);
            let rounds = self.rounds.div_ceil(parts.unwrap_or(usize::MAX));
            let rounds = rounds.max(self.min_rounds);
            let evaluated = rounds.checked_next_multiple_of(self.eval_every);
            Rung {
                candidates,
                rounds: evaluated.unwrap_or(rounds).min(self.rounds.max(rounds)),
            }
        };
        sizes.into_iter().enumerate().map(rung).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rungs(keep_one_in: usize, rounds: usize, candidates: usize) -> Vec<(usize, usize)> {
        of(Halving::new(keep_one_in, rounds, 1, 1).unwrap(), candidates)
    }

    fn of(halving: Halving, candidates: usize) -> Vec<(usize, usize)> {
        let rungs = halving.rungs(candidates).into_iter();
        rungs.map(|rung| (rung.candidates, rung.rounds)).collect()
    }

    #[test]
    fn each_rung_has_fewer_candidates_and_more_rounds() {
        assert_eq!(rungs(3, 90, 9), [(9, 10), (3, 30), (1, 90)]);
        assert_eq!(rungs(2, 100, 5), [(5, 13), (3, 25), (2, 50), (1, 100)]);
        assert_eq!(rungs(2, 3, 8), [(8, 1), (4, 1), (2, 2), (1, 3)]);
        assert_eq!(rungs(2, 7, 1), [(1, 7)]);
        for found in [0, 1] {
            assert!(Halving::new(found, 10, 1, 1).is_err());
        }
    }

    #[test]
    fn no_rung_has_fewer_rounds_than_a_run_can_have() {
        let halving = Halving::new(2, 100, 41, 1).unwrap();
        assert_eq!(of(halving, 5), [(5, 41), (3, 41), (2, 50), (1, 100)]);
    }

    /// A run that goes on drops the evaluation after its last round, unless it is a regular one.
    #[test]
    fn each_rung_ends_with_a_regular_evaluation_or_is_the_whole_run() {
        let halving = Halving::new(2, 98, 1, 5).unwrap();
        assert_eq!(of(halving, 5), [(5, 15), (3, 25), (2, 50), (1, 98)]);
        let halving = Halving::new(2, 100, 41, usize::MAX).unwrap();
        assert_eq!(of(halving, 3), [(3, 100), (2, 100), (1, 100)]);
    }
}
