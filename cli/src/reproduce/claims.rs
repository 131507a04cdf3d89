//! What the runs say of a paper's claims: differences over runs with the same seed.

use fedround_metrics::paired::{CorrectedDifference, PairedDifference, corrected};
use serde::{Serialize, Serializer};

use super::measures::{Runs, pairs};
use super::plan::Plan;
use super::unit::{Unit, unit};

/// A claim in a setting.
#[derive(Debug, Serialize)]
pub(super) struct Found {
    pub setting: usize,
    pub method: usize,
    pub than: usize,
    pub measure: usize,
    /// Whether the claim is that the method has less.
    pub less: bool,
    /// `None` of fewer than two pairs.
    #[serde(flatten)]
    pub difference: Option<CorrectedDifference>,
    pub verdict: Verdict,
    #[serde(skip)]
    pub unit: Unit,
}

/// What an interval says of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It lies on the claim's side of zero.
    Shown,
    /// It has zero in it.
    NotShown,
    /// It lies on the other side.
    Contradicted,
    /// There is none.
    TooFew,
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Verdict {
    fn of(difference: Option<&CorrectedDifference>, less: bool) -> Self {
        let Some(found) = difference else {
            return Self::TooFew;
        };
        match (found.is_shown(), (found.low_holm < 0.0) == less) {
            (false, _) => Self::NotShown,
            (true, true) => Self::Shown,
            (true, false) => Self::Contradicted,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Shown => "shown",
            Self::NotShown => "not shown",
            Self::Contradicted => "contradicted",
            Self::TooFew => "fewer than two pairs",
        }
    }
}

/// The claims of a plan's table about methods that are run, corrected for their number.
pub(super) fn found(plan: &Plan, runs: &Runs<'_>) -> Vec<Found> {
    let common = &plan.table.common;
    let method = |name: &str| common.method.iter().position(|m| m.name == name);
    let (mut claims, mut differences) = (vec![], vec![]);
    for setting in 0..plan.table.setting.len() {
        for claim in common.claim.iter().flatten() {
            let measure = common.measure.iter().position(|m| m.name == claim.measure);
            for than in &claim.than {
                let (Some(ours), Some(theirs), Some(measure)) =
                    (method(&claim.method), method(than), measure)
                else {
                    continue;
                };
                let entrants = [ours, theirs].map(|method| plan.entrant(setting, method));
                let [Some(first), Some(second)] = entrants else {
                    continue;
                };
                let of = &common.measure[measure].of;
                differences.push(PairedDifference::of(&pairs(
                    plan,
                    runs,
                    [first, second],
                    of,
                )));
                claims.push(Found {
                    setting,
                    method: ours,
                    than: theirs,
                    measure,
                    less: claim.less,
                    difference: None,
                    verdict: Verdict::TooFew,
                    unit: unit(of, true),
                });
            }
        }
    }
    let with = |(claim, difference): (Found, Option<CorrectedDifference>)| Found {
        verdict: Verdict::of(difference.as_ref(), claim.less),
        difference,
        ..claim
    };
    claims
        .into_iter()
        .zip(corrected(&differences))
        .map(with)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_alone_decides() {
        let of = |values: [f64; 4]| {
            let pairs = values.map(|x| (x, 0.0));
            corrected(&[PairedDifference::of(&pairs)])[0]
        };
        let more = of([1.0, 1.1, 0.9, 1.0]);
        let less = of([-1.0, -1.1, -0.9, -1.0]);
        let either = of([1.0, -1.1, 0.9, -1.0]);
        for (found, claimed_less, verdict) in [
            (more, false, Verdict::Shown),
            (more, true, Verdict::Contradicted),
            (less, true, Verdict::Shown),
            (less, false, Verdict::Contradicted),
            (either, false, Verdict::NotShown),
            (either, true, Verdict::NotShown),
            (None, false, Verdict::TooFew),
        ] {
            assert_eq!(Verdict::of(found.as_ref(), claimed_less), verdict);
        }
    }
}
