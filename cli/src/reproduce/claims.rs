//! Compares a paper's claims with the runs, by differences between runs of the same seed.

use fedround_metrics::paired::{CorrectedDifference, PairedDifference, corrected_in};
use serde::{Serialize, Serializer};

use super::args::Scale;
use super::columns::{Unit, unit};
use super::measures::{Runs, pairs};
use super::plan::Plan;

/// A claim in a setting.
#[derive(Debug, Serialize)]
pub(super) struct Found {
    pub setting: usize,
    pub method: usize,
    pub than: usize,
    pub measure: usize,
    /// Whether the claim is that the method has less.
    pub less: bool,
    /// Whether it is one of the claims that the table is about.
    pub headline: bool,
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
    /// All pairs differ by the same amount, which is no test of an estimate.
    NoSpread,
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Verdict {
    fn of(difference: Option<&CorrectedDifference>, less: bool, unit: Unit) -> Self {
        let Some(found) = difference else {
            return Self::TooFew;
        };
        let shown = match (found.p_holm, unit) {
            (Some(_), _) => found.is_shown(),
            // Rounds and bytes may follow from the settings: then they are known without a test.
            (None, Unit::Rounds | Unit::Count) => true,
            (None, Unit::Percent | Unit::Points | Unit::Number) => return Self::NoSpread,
        };
        match (shown, (found.low_holm < 0.0) == less) {
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
            Self::NoSpread => "no spread",
        }
    }
}

/// The claims of a plan's table about methods that are run. Headline claims are corrected for the number of
/// headline claims that the table has at this scale, the others for theirs, however many of them are run.
pub(super) fn found(plan: &Plan, runs: &Runs<'_>) -> Vec<Found> {
    let all = claims(plan);
    let mut found = vec![];
    for headline in [true, false] {
        let (mut own, mut differences) = (vec![], vec![]);
        let family = || all.iter().filter(|claim| claim.headline == headline);
        for claim in family() {
            let entrant = |method| plan.entrant(claim.setting, method);
            let (Some(ours), Some(theirs)) = (entrant(claim.method), entrant(claim.than)) else {
                continue;
            };
            let measure = &plan.table.common.measure[claim.measure];
            let pairs = pairs(plan, runs, [ours, theirs], &measure.of);
            differences.push(PairedDifference::of(&pairs));
            own.push(claim);
        }
        let corrected = corrected_in(&differences, family().count());
        let with = |(claim, difference): (&Found, Option<CorrectedDifference>)| Found {
            verdict: Verdict::of(difference.as_ref(), claim.less, claim.unit),
            difference,
            ..*claim
        };
        found.extend(own.into_iter().zip(corrected).map(with));
    }
    found
}

/// How many claims the table has at the plan's scale, run or not: headline claims, and others.
pub(super) fn family(plan: &Plan) -> [usize; 2] {
    let all = claims(plan);
    let headline = all.iter().filter(|claim| claim.headline).count();
    [headline, all.len() - headline]
}

/// Every claim of the table in every setting that its scale has, without a difference.
fn claims(plan: &Plan) -> Vec<Found> {
    let common = &plan.table.common;
    let method = |name: &str| common.method.iter().position(|m| m.name == name);
    let mut all = vec![];
    for (setting, of_table) in plan.table.setting.iter().enumerate() {
        if of_table.full_only && plan.scale == Scale::Small {
            continue;
        }
        for claim in common.claim.iter().flatten() {
            let measure = common.measure.iter().position(|m| m.name == claim.measure);
            for than in &claim.than {
                let (Some(ours), Some(theirs), Some(measure)) =
                    (method(&claim.method), method(than), measure)
                else {
                    continue;
                };
                all.push(Found {
                    setting,
                    method: ours,
                    than: theirs,
                    measure,
                    less: claim.less,
                    headline: claim.headline.contains(than),
                    difference: None,
                    verdict: Verdict::TooFew,
                    unit: unit(&common.measure[measure], true),
                });
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use fedround_metrics::paired::corrected;

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
            let of = Verdict::of(found.as_ref(), claimed_less, Unit::Points);
            assert_eq!(of, verdict);
        }
        // One more test example in each run shows nothing; as many bytes less in each are less.
        let same = of([-1.0; 4]);
        for (unit, less, verdict) in [
            (Unit::Points, true, Verdict::NoSpread),
            (Unit::Count, true, Verdict::Shown),
            (Unit::Rounds, false, Verdict::Contradicted),
        ] {
            assert_eq!(Verdict::of(same.as_ref(), less, unit), verdict);
        }
    }
}
