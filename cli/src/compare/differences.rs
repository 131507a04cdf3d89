//! Differences between algorithms over runs with the same seeds, and whether the seeds show them.

use comfy_table::Table;
use fedround::experiment::Status;
use fedround_metrics::paired::{CorrectedDifference, PairedDifference, corrected};
use serde::{Deserialize, Serialize};

use super::quantity::Quantity;
use super::record::Record;
use crate::terminal::table::table;

/// A difference that is no more than an error of rounding.
const ROUNDING: f64 = 1e-9;

/// An algorithm less the first one, over the seeds with which both are complete.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Difference {
    pub algorithm: String,
    pub from: String,
    pub of: Quantity,
    /// `None` of fewer than two seeds with which both have an accuracy.
    #[serde(flatten)]
    pub difference: Option<PairedDifference>,
    /// The probability, corrected for the number of differences in the table.
    pub p_holm: Option<f64>,
    /// Whether it is below 5 %.
    pub shown: bool,
}

/// The difference of each algorithm but the first from the first; runs are in the order of seeds.
/// They are of the quantity that all runs have in common, or of the models that validation examples choose.
pub(super) fn differences(
    algorithms: &[(&str, Vec<Option<&Record>>)],
    of: Quantity,
) -> Vec<Difference> {
    let Some(((from, baseline), others)) = algorithms.split_first() else {
        return vec![];
    };
    let runs = algorithms.iter().flat_map(|(_, runs)| runs).flatten();
    let chosen = { runs }.any(|run| run.chosen_test_accuracy.is_some());
    let of = match of {
        Quantity::Accuracy if chosen => Quantity::ChosenTestAccuracy,
        own => own,
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
    // Without a spread there is no test, not even of no difference.
    let tested = |d: PairedDifference| PairedDifference {
        p: d.p.filter(|_| d.low < d.high),
        ..d
    };
    let found: Vec<Option<PairedDifference>> = others
        .iter()
        .map(|(_, runs)| PairedDifference::of(&pairs(runs)).map(tested))
        .collect();
    let difference = |((name, _), found): (&(&str, _), Option<CorrectedDifference>)| Difference {
        algorithm: (*name).to_owned(),
        from: (*from).to_owned(),
        of,
        difference: found.map(|found| found.difference),
        p_holm: found.and_then(|found| found.p_holm),
        shown: found.is_some_and(|found| found.is_shown()),
    };
    others
        .iter()
        .zip(corrected(&found))
        .map(difference)
        .collect()
}

/// A table of them, and what its numbers are; nothing of no differences. There are as many `seeds`, and
/// accuracies are `mixed` if some are of the clients' own models and others of the server's.
pub(super) fn text(
    differences: &[Difference],
    (seeds, mixed): (usize, bool),
    style: &str,
) -> Option<(Table, String)> {
    let first = differences.first()?;
    let known = || differences.iter().filter_map(|d| d.difference);
    // Where a pair is missing, each row says how many it has.
    let with_pairs = known().any(|d| d.pairs < seeds);
    let mut header = vec!["algorithm", "difference", "95 % interval", "p", "verdict"];
    if with_pairs {
        header.insert(1, "pairs");
    }
    let rows = differences.iter().map(|d| {
        let points = |x: f64| format!("{:+.2}", 100.0 * x);
        let of = |cell: &dyn Fn(&PairedDifference) -> String| {
            d.difference.as_ref().map_or("-".to_owned(), cell)
        };
        let mut cells = vec![
            d.algorithm.clone(),
            of(&|d| points(d.mean)),
            of(&|d| match d.p {
                Some(_) => format!("{} to {}", points(d.low), points(d.high)),
                None => "-".to_owned(),
            }),
            d.p_holm.map_or("-".to_owned(), probability),
            verdict(d).to_owned(),
        ];
        if with_pairs {
            cells.insert(1, of(&|d| format!("{} of {seeds}", d.pairs)));
        }
        cells
    });
    let tests = match differences.iter().filter(|d| d.p_holm.is_some()).count() {
        0 => String::new(),
        1 => "; Student's t-interval and p of one test".to_owned(),
        n => format!("; Student's t-intervals; p after Holm's correction for {n} tests"),
    };
    let unlike = match mixed && first.of != Quantity::LocalAccuracy {
        true => {
            "; some accuracies are of the clients' own models and others of the server's model, so that differences between these are of two measures"
        }
        false => "",
    };
    let about = format!(
        "differences from {} in {}, in percentage points, paired by seed{tests}{unlike}",
        first.from,
        first.of.name(),
    );
    Some((table(style, header, 1, rows), about))
}

fn verdict(difference: &Difference) -> &'static str {
    match (difference.difference, difference.shown) {
        (None, _) => "fewer than two pairs",
        (Some(d), _) if d.p.is_none() && d.mean.abs() < ROUNDING => "equal with every seed",
        (Some(PairedDifference { p: None, .. }), _) => "no spread between seeds",
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
    use super::super::line::Local;
    use super::super::statistics::tests::run;
    use super::*;
    use crate::run::Models;
    use crate::terminal::table::MARKDOWN;

    fn runs(accuracies: &[f64]) -> Vec<Record> {
        let runs = accuracies.iter();
        runs.map(|accuracy| run(Status::Complete, &[*accuracy]))
            .collect()
    }

    fn found(algorithms: &[(&'static str, Vec<Record>)]) -> Vec<Difference> {
        let named = algorithms.iter();
        let named = named.map(|(name, runs)| (*name, runs.iter().map(Some).collect()));
        differences(&named.collect::<Vec<_>>(), Quantity::Accuracy)
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
        assert_eq!(found[0].p_holm, p.map(|p| 2.0 * p));
        let (table, about) = text(&found, (4, false), MARKDOWN).unwrap();
        assert!(
            about.contains("differences from base in accuracy") && about.contains("for 2 tests"),
            "{about}"
        );
        assert!(table.to_string().contains("+2.00"), "{table}");
        assert!(!table.to_string().contains("pairs"), "{table}");
    }

    #[test]
    fn seeds_without_a_spread_show_nothing_and_are_no_test() {
        let base = ("base", runs(&[0.5, 0.6, 0.7]));
        // One more test example of 100 is right with each seed.
        let by_one = ("by one", runs(&[0.51, 0.61, 0.71]));
        let other = ("other", runs(&[0.52, 0.6, 0.71]));
        let equal = ("equal", runs(&[0.5, 0.6, 0.7]));
        let found = found(&[base, by_one, other, equal]);
        for (row, expected) in [(0, "no spread between seeds"), (2, "equal with every seed")] {
            assert_eq!((found[row].shown, found[row].p_holm), (false, None));
            assert_eq!(verdict(&found[row]), expected);
        }
        let (table, about) = text(&found, (3, false), MARKDOWN).unwrap();
        assert!(!table.to_string().contains("+0.00 to"), "{table}");
        assert!(about.contains("p of one test"), "{about}");
        assert!(table.to_string().contains("|      +1.00 |"), "{table}");
    }

    #[test]
    fn unlike_accuracies_are_compared_by_what_they_have_in_common() {
        let of_clients = |accuracy: f64| Record {
            accuracy_of: Models::Clients,
            local_accuracy: Some(Local { mean: accuracy }),
            ..run(Status::Complete, &[accuracy])
        };
        let of_server = |accuracy: f64, local: f64| Record {
            local_accuracy: Some(Local { mean: local }),
            ..run(Status::Complete, &[accuracy])
        };
        let server = [of_server(0.9, 0.5), of_server(0.8, 0.7)];
        let clients = [of_clients(0.6), of_clients(0.75)];
        let all: Vec<&Record> = server.iter().chain(&clients).collect();
        assert_eq!(Quantity::common(&all), Quantity::LocalAccuracy);
        assert_eq!(Quantity::common(&all[..2]), Quantity::Accuracy);
        let named = [("server", &server), ("clients", &clients)];
        let named = named.map(|(name, runs)| (name, runs.iter().map(Some).collect()));
        let found = differences(&named, Quantity::common(&all));
        assert!((found[0].difference.unwrap().mean - 0.075).abs() < 1e-12);
        let (_, about) = text(&found, (2, true), MARKDOWN).unwrap();
        assert!(about.contains("in local accuracy"), "{about}");
        // Without local accuracies it is said that these are two measures.
        let mut without = server.clone();
        without[0].local_accuracy = None;
        let all: Vec<&Record> = without.iter().chain(&clients).collect();
        let of = Quantity::common(&all);
        assert_eq!(of, Quantity::Accuracy);
        let (_, about) = text(&differences(&named, of), (2, true), MARKDOWN).unwrap();
        assert!(about.contains("of two measures"), "{about}");
    }

    #[test]
    fn a_seed_that_one_of_the_two_lacks_makes_no_pair() {
        let (base, mut other) = (runs(&[0.5, 0.6, 0.7]), runs(&[0.6, 0.7, 0.8]));
        other[1].status = Status::Failed;
        let all = found(&[("base", base), ("other", other)]);
        assert_eq!(all[0].difference.unwrap().pairs, 2);
        let (table, _) = text(&all, (3, false), MARKDOWN).unwrap();
        assert!(table.to_string().contains("2 of 3"), "{table}");
        let one = found(&[("base", runs(&[0.5])), ("other", runs(&[0.9]))]);
        assert_eq!(
            (one[0].shown, verdict(&one[0])),
            (false, "fewer than two pairs")
        );
        assert_eq!(found(&[("base", runs(&[0.5]))]), []);
    }
}
