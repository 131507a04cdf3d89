//! Cohorts that are not as the algorithm draws them: their noise may have no known bound.

use fedround_passes::fed::{Draw, Mechanism};

use super::bound::NoBound;

/// Who of the clients that a round draws may be missing from its sums.
#[derive(Clone, Copy, Debug, Default)]
pub struct Missed {
    /// Some may fail or be late, or did.
    pub some: bool,
    /// Those that are not among the fastest.
    pub slow: bool,
    /// The last one, before it joins; then it is drawn in every round, beside a share of the others.
    pub late: bool,
}

impl Missed {
    /// Fails if noise on sums over one cohort has no known bound without them. A sum of fewer is one in which
    /// they send zeros; the mean of fewer has another divisor.
    pub(super) fn check(self, joint: &[&Mechanism]) -> Result<(), NoBound> {
        for sum in joint.iter().filter_map(|mechanism| mechanism.cohort) {
            match sum.draw {
                Draw::Fraction(fraction) if self.slow && fraction < 1.0 => {
                    return Err(NoBound::OverSelect);
                }
                Draw::Fraction(fraction) if self.late && (fraction < 1.0 || sum.mean) => {
                    return Err(NoBound::Late);
                }
                Draw::Fraction(_) if self.some && sum.mean => return Err(NoBound::Fewer),
                Draw::Fraction(_) | Draw::Bernoulli(_) | Draw::Passes(_) => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use fedround_ir::Loc;
    use fedround_ir::fed::Value;
    use fedround_passes::fed::{CohortSum, NoiseKind, Unit};

    use super::*;

    #[test]
    fn clients_that_do_not_answer_matter_to_means_and_to_cohorts_that_are_drawn() {
        let none = Missed::default();
        let some = Missed { some: true, ..none };
        let slow = Missed { slow: true, ..none };
        let late = Missed { late: true, ..none };
        let fixed = Draw::Fraction(0.5);
        for (missed, draw, mean, expected) in [
            (none, fixed, true, Ok(())),
            (some, fixed, true, Err(NoBound::Fewer)),
            (some, fixed, false, Ok(())),
            (some, Draw::Bernoulli(0.5), false, Ok(())),
            (some, Draw::Passes(3), false, Ok(())),
            (slow, fixed, true, Err(NoBound::OverSelect)),
            (slow, fixed, false, Err(NoBound::OverSelect)),
            (slow, Draw::Fraction(1.0), true, Ok(())),
            (slow, Draw::Bernoulli(0.5), false, Ok(())),
            (late, fixed, false, Err(NoBound::Late)),
            (late, Draw::Fraction(1.0), true, Err(NoBound::Late)),
            (late, Draw::Fraction(1.0), false, Ok(())),
            (late, Draw::Bernoulli(0.5), false, Ok(())),
        ] {
            let cohort = CohortSum {
                draw,
                mean,
                tree: false,
                cohort: Value(0),
            };
            let on_sum = Mechanism {
                cohort: Some(cohort),
                noise: NoiseKind::Gaussian,
                scale: 4.0,
                bound: 1.0,
                adaptive: false,
                l1: false,
                unit: Unit::Client,
                central: false,
                steps: None,
                repetitions: None,
                loc: Loc::caller(),
            };
            assert_eq!(missed.check(&[&on_sum]), expected, "{missed:?} {cohort:?}");
        }
    }
}
