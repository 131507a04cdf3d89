//! Differences between algorithms over runs with the same seeds, and whether the seeds show them.

use comfy_table::Table;
use fedround::experiment::Status;
use fedround_metrics::paired::{CorrectedDifference, PairedDifference, corrected};
use serde::{Deserialize, Serialize};

use super::record::Record;
use crate::table::table;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Quantity {
    /// Of what the algorithm trains, after the last round.
    Accuracy,
    /// Of the model that validation examples choose.
    ChosenTestAccuracy,
}

impl Quantity {
    fn of(self, run: &Record) -> Option<f64> {
        match self {
            Self::Accuracy => run.accuracy,
            Self::ChosenTestAccuracy => run.chosen_test_accuracy,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::ChosenTestAccuracy => "chosen accuracy",
        }
    }
}

/// An algorithm less the first one, over the seeds with which both are complete.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Difference {
    pub algorithm: String,
    pub from: String,
    pub of: Quantity,
    /// `None` of fewer than two seeds.
    #[serde(flatten)]
    pub difference: Option<PairedDifference>,
    /// The probability, corrected for the number of differences in the table.
    pub p_holm: Option<f64>,
    /// Whether it is below 5 %.
    pub shown: bool,
}

/// The difference of each algorithm but the first from the first; runs are in the order of seeds.
pub(super) fn differences(algorithms: &[(&str, Vec<Option<&Record>>)]) -> Vec<Difference> {
    let Some(((from, baseline), others)) = algorithms.split_first() else {
        return vec![];
    };
    let runs = algorithms.iter().flat_map(|(_, runs)| runs).flatten();
    let of = match { runs }.any(|run| run.chosen_test_accuracy.is_some()) {
        true => Quantity::ChosenTestAccuracy,
        false => Quantity::Accuracy,
    };
    let value = |run: &Option<&Record>| {
        let complete = run.filter(|run| run.status == Status::Complete);
        complete.and_then(|run| of.of(run))
    };
    let pairs = |runs: &[Option<&Record>]| -> Vec<(f64, f64)> {
        let both = runs.iter().zip(baseline);
        let both = both.filter_map(|(ours, theirs)| value(ours).zip(value(theirs)));
        both.collect()
    };
    let found: Vec<Option<PairedDifference>> = others
        .iter()
        .map(|(_, runs)| PairedDifference::of(&pairs(runs)))
        .collect();
    let difference = |((name, _), found): (&(&str, _), Option<CorrectedDifference>)| Difference {
        algorithm: (*name).to_owned(),
        from: (*from).to_owned(),
        of,
        difference: found.map(|found| found.difference),
        p_holm: found.map(|found| found.p_holm),
        shown: found.is_some_and(|found| found.is_shown()),
    };
    others
        .iter()
        .zip(corrected(&found))
        .map(difference)
        .collect()
}

/// A table of them, and what its numbers are; nothing of no differences.
pub(super) fn text(differences: &[Difference], style: &str) -> Option<(Table, String)> {
    let first = differences.first()?;
    let header = ["algorithm", "difference", "95 % interval", "p", "verdict"];
    let rows = differences.iter().map(|d| {
        let points = |x: f64| format!("{:+.2}", 100.0 * x);
        let of = |cell: &dyn Fn(&PairedDifference) -> String| {
            d.difference.as_ref().map_or("-".to_owned(), cell)
        };
        [
            d.algorithm.clone(),
            of(&|d| points(d.mean)),
            of(&|d| format!("{} to {}", points(d.low), points(d.high))),
            d.p_holm.map_or("-".to_owned(), probability),
            verdict(d).to_owned(),
        ]
    });
    let about = format!(
        "differences from {} in {}, in percentage points, paired by seed; Student's t-intervals; p after Holm's correction for {} tests",
        first.from,
        first.of.name(),
        differences.len(),
    );
    Some((table(style, header, 1, rows), about))
}

fn verdict(difference: &Difference) -> &'static str {
    match (difference.difference, difference.shown) {
        (None, _) => "fewer than two seeds",
        (Some(_), false) => "no difference shown",
        (Some(d), true) if d.mean > 0.0 => "higher",
        (Some(_), true) => "lower",
    }
}

/// A probability as it is printed.
pub(crate) fn probability(p: f64) -> String {
    match p < 0.001 {
        true => "< 0.001".to_owned(),
        false => format!("{p:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::statistics::tests::run;
    use super::*;

    fn runs(accuracies: &[f64]) -> Vec<Record> {
        let runs = accuracies.iter();
        runs.map(|accuracy| run(Status::Complete, &[*accuracy]))
            .collect()
    }

    fn found(algorithms: &[(&'static str, Vec<Record>)]) -> Vec<Difference> {
        let named = algorithms.iter();
        let named = named.map(|(name, runs)| (*name, runs.iter().map(Some).collect()));
        differences(&named.collect::<Vec<_>>())
    }

    #[test]
    fn differences_are_paired_by_seed_and_corrected() {
        // Seeds differ much more than algorithms do, and pairs do not.
        let base = ("base", runs(&[0.50, 0.60, 0.70, 0.80]));
        let better = ("better", runs(&[0.521, 0.62, 0.719, 0.82]));
        let same = ("same", runs(&[0.52, 0.58, 0.71, 0.79]));
        let found = found(&[base, better, same]);
        assert_eq!((found[0].shown, found[1].shown), (true, false));
        assert_eq!(
            (verdict(&found[0]), verdict(&found[1])),
            ("higher", "no difference shown")
        );
        let p = found[0].difference.unwrap().p;
        assert_eq!(found[0].p_holm, Some(2.0 * p));
        let (table, about) = text(&found, crate::table::MARKDOWN).unwrap();
        assert!(
            about.contains("differences from base in accuracy"),
            "{about}"
        );
        assert!(table.to_string().contains("+2.00"), "{table}");
    }

    #[test]
    fn a_seed_that_one_of_the_two_lacks_makes_no_pair() {
        let (base, mut other) = (runs(&[0.5, 0.6, 0.7]), runs(&[0.6, 0.7, 0.8]));
        other[1].status = Status::Failed;
        let all = found(&[("base", base), ("other", other)]);
        assert_eq!(all[0].difference.unwrap().pairs, 2);
        let one = found(&[("base", runs(&[0.5])), ("other", runs(&[0.9]))]);
        assert_eq!(
            (one[0].shown, verdict(&one[0])),
            (false, "fewer than two seeds")
        );
        assert_eq!(found(&[("base", runs(&[0.5]))]), []);
    }
}
