//! Means and deviations over the seeds of a comparison.

use fedround::experiment::Status;
use fedround_metrics::progress::Point;
use serde::{Deserialize, Serialize};

use super::quantity::{Quantity, Target};
use super::record::Record;
use crate::run::Models;

/// A number over several runs.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Spread {
    pub mean: f64,
    /// The standard deviation that the runs are a sample of (divided by one less than their
    /// number); none of a single run.
    pub std: Option<f64>,
    /// How many runs have the number.
    pub runs: usize,
}

impl Spread {
    /// `None` of no numbers.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().collect();
        let n = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n;
        let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
        Some(Self {
            mean,
            std: (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt()),
            runs: values.len(),
        })
    }
}

/// The complete ones of an algorithm's runs.
pub(super) fn complete<'r>(runs: &[Option<&'r Record>]) -> impl Iterator<Item = &'r Record> {
    let runs = runs.iter().copied().flatten();
    runs.filter(|run| run.status == Status::Complete)
}

/// An algorithm over its complete runs.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Row {
    pub algorithm: String,
    pub spec: String,
    pub complete: usize,
    pub failed: usize,
    /// Interrupted, or not begun.
    pub unfinished: usize,
    /// Accuracy after the last round of the models that the algorithm trains; `accuracy_of` says which they
    /// are.
    pub accuracy: Option<Spread>,
    /// The largest accuracy of each run.
    pub best_accuracy: Option<Spread>,
    pub accuracy_of: Models,
    /// Accuracy of the server's model after the last round.
    pub test_accuracy: Option<Spread>,
    /// The largest `test_accuracy` of each run.
    pub best_test_accuracy: Option<Spread>,
    /// The best accuracy of each run on validation examples, if clients hold some back.
    pub validation_accuracy: Option<Spread>,
    /// Accuracy on test examples of the models that are chosen by it, measured as `accuracy` is.
    pub chosen_test_accuracy: Option<Spread>,
    /// Each run's mean over clients of the accuracy on their own test examples.
    pub local_accuracy: Option<Spread>,
    /// Rounds until the target, over the runs that reach it.
    pub rounds_to_target: Option<Spread>,
    pub bytes_to_target: Option<Spread>,
    /// Bytes of a round in all directions, of all clients.
    pub bytes_per_round: Option<Spread>,
    pub seconds_per_round: Option<Spread>,
}

impl Row {
    /// The row of an algorithm's runs, one for each seed.
    pub fn new(name: &str, spec: &str, runs: &[Option<&Record>], target: Option<Target>) -> Self {
        let complete = || complete(runs);
        let spread =
            |value: &dyn Fn(&Record) -> Option<f64>| Spread::of(complete().filter_map(value));
        let rounds = |run: &Record| run.rounds.max(1) as f64;
        let reached = |run: &Record| target?.reached(run);
        let has_failed = |run: &&&Record| run.status == Status::Failed;
        let failed = runs.iter().flatten().filter(has_failed).count();
        let complete_runs = complete().count();
        Self {
            algorithm: name.to_owned(),
            spec: spec.to_owned(),
            complete: complete_runs,
            failed,
            unfinished: runs.len() - complete_runs - failed,
            accuracy: spread(&|run| run.accuracy),
            best_accuracy: spread(&|run| run.best_accuracy),
            accuracy_of: match complete().any(|run| run.accuracy_of == Models::Clients) {
                true => Models::Clients,
                false => Models::Server,
            },
            test_accuracy: spread(&|run| run.test_accuracy),
            best_test_accuracy: spread(&|run| run.best_test_accuracy),
            validation_accuracy: spread(&|run| run.validation_accuracy),
            chosen_test_accuracy: spread(&|run| run.chosen_test_accuracy),
            local_accuracy: spread(&|run| Some(run.local_accuracy.as_ref()?.mean)),
            rounds_to_target: spread(&|run| Some(reached(run)?.round as f64)),
            bytes_to_target: spread(&|run| Some(reached(run)?.bytes as f64)),
            bytes_per_round: spread(&|run| Some(run.sent() as f64 / rounds(run))),
            seconds_per_round: spread(&|run| Some(run.seconds / rounds(run))),
        }
    }
}

/// A point of an algorithm's mean curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MeanPoint {
    pub round: f64,
    pub bytes: f64,
    pub mean: f64,
    /// 0 of a single run.
    pub std: f64,
}

/// The mean over the complete runs at each round in which all of them were evaluated. Goals and phases that end
/// early make runs with other seeds be evaluated in other rounds.
pub(crate) fn mean_curve(runs: &[Option<&Record>], of: Quantity) -> Vec<MeanPoint> {
    let curves: Vec<Vec<Point>> = complete(runs).map(|run| of.curve(run)).collect();
    let point = |here: Vec<Point>| {
        let accuracy = Spread::of(here.iter().map(|p| p.value))?;
        Some(MeanPoint {
            round: here.first()?.round as f64,
            bytes: Spread::of(here.iter().map(|p| p.bytes as f64))?.mean,
            mean: accuracy.mean,
            std: accuracy.std.unwrap_or(0.0),
        })
    };
    in_common(&curves).into_iter().filter_map(point).collect()
}

/// For each round that all curves have, the points of all of them. Curves are in the order of rounds.
pub(crate) fn in_common(curves: &[Vec<Point>]) -> Vec<Vec<Point>> {
    let points = |round: usize| -> Option<Vec<Point>> {
        let here = |curve: &Vec<Point>| {
            let place = curve.binary_search_by_key(&round, |point| point.round);
            Some(curve[place.ok()?])
        };
        curves.iter().map(here).collect()
    };
    let first = curves.iter().take(1).flatten();
    first.filter_map(|point| points(point.round)).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::line::Line;
    use super::*;

    /// A run evaluated after every second round, 10 bytes a round.
    pub fn run(status: Status, accuracies: &[f64]) -> Record {
        let line = |round: usize| Line {
            round,
            train_loss: Some(1.0),
            accuracy: (round.is_multiple_of(2)).then(|| accuracies[round / 2 - 1]),
            test_loss: None,
            test_accuracy: (round.is_multiple_of(2)).then(|| accuracies[round / 2 - 1]),
            bytes_up: 4,
            bytes_down: 6,
            bytes: 10 * round as u64,
            ..Line::default()
        };
        let rounds = 2 * accuracies.len();
        Record {
            status,
            rounds,
            accuracy: accuracies.last().copied(),
            best_accuracy: accuracies.iter().copied().reduce(f64::max),
            test_accuracy: accuracies.last().copied(),
            best_test_accuracy: accuracies.iter().copied().reduce(f64::max),
            seconds: rounds as f64,
            bytes_up: 4 * rounds as u64,
            bytes_down: 6 * rounds as u64,
            ..Record::of_lines((1..=rounds).map(line).collect())
        }
    }

    #[test]
    fn spreads_are_of_samples() {
        let spread = Spread::of([1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((spread.mean, spread.runs), (2.5, 4));
        assert!((spread.std.unwrap() - (5.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        let one = Spread {
            mean: 7.0,
            std: None,
            runs: 1,
        };
        assert_eq!((Spread::of([7.0]), Spread::of([])), (Some(one), None));
    }

    #[test]
    fn rows_are_over_complete_runs_and_targets_over_those_that_reach_them() {
        let runs = [
            Some(run(Status::Complete, &[0.2, 0.9, 0.6])),
            Some(run(Status::Complete, &[0.2, 0.4, 0.5])),
            Some(run(Status::Failed, &[0.1])),
            None,
        ];
        let runs = runs.each_ref().map(Option::as_ref);
        let target = |accuracy| {
            let of = Quantity::Accuracy;
            Some(Target { accuracy, of })
        };
        let row = Row::new("a", "fedavg", &runs, target(0.6));
        assert_eq!((row.complete, row.failed, row.unfinished), (2, 1, 1));
        let mean = |spread: Option<Spread>| spread.map(|s| (s.mean, s.runs));
        assert_eq!(mean(row.test_accuracy), Some((0.55, 2)));
        assert_eq!(mean(row.best_test_accuracy), Some((0.7, 2)));
        assert_eq!(mean(row.local_accuracy), None);
        assert_eq!(mean(row.rounds_to_target), Some((4.0, 1)));
        assert_eq!(mean(row.bytes_to_target), Some((40.0, 1)));
        assert_eq!(mean(row.bytes_per_round), Some((10.0, 2)));
        assert_eq!(mean(row.seconds_per_round), Some((1.0, 2)));
        let never = Row::new("a", "fedavg", &runs, target(0.95));
        assert_eq!(never.rounds_to_target, None);
        assert_eq!(Row::new("a", "fedavg", &runs, None).rounds_to_target, None);
    }

    #[test]
    fn curves_are_of_the_models_that_the_last_accuracy_is_of() {
        let mut phases = run(Status::Complete, &[0.9, 0.5, 0.6]);
        phases.accuracy_of = Models::Clients;
        for line in &mut phases.lines {
            line.accuracy_of = Some(match line.round {
                1 | 2 => Models::Server,
                _ => Models::Clients,
            });
        }
        let rounds: Vec<usize> = phases.curve().iter().map(|point| point.round).collect();
        assert_eq!(rounds, [4, 6]);
        let target = Target {
            accuracy: 0.55,
            of: Quantity::Accuracy,
        };
        assert_eq!(target.reached(&phases).map(|point| point.round), Some(6));
        // Older files do not say whose the accuracies are.
        phases
            .lines
            .iter_mut()
            .for_each(|line| line.accuracy_of = None);
        assert_eq!(phases.curve().len(), 3);
    }

    #[test]
    fn curves_are_means_of_complete_runs_at_evaluated_rounds() {
        let runs = [
            Some(run(Status::Complete, &[0.25, 0.75])),
            Some(run(Status::Complete, &[0.25, 0.25])),
            Some(run(Status::Failed, &[0.9])),
        ];
        let runs = runs.each_ref().map(Option::as_ref);
        let curve = mean_curve(&runs, Quantity::Accuracy);
        let places: Vec<_> = curve.iter().map(|p| (p.round, p.bytes, p.mean)).collect();
        assert_eq!(places, [(2.0, 20.0, 0.25), (4.0, 40.0, 0.5)]);
        assert!((curve[1].std - 0.125_f64.sqrt()).abs() < 1e-15);
        assert_eq!(mean_curve(&runs[2..], Quantity::Accuracy), []);
        // A run that was evaluated in other rounds, too, does not end the line.
        let mut other = run(Status::Complete, &[0.75, 0.25]);
        other.lines[0].accuracy = Some(0.5);
        let curve = mean_curve(&[runs[0], Some(&other)], Quantity::Accuracy);
        let places: Vec<_> = curve.iter().map(|p| (p.round, p.mean)).collect();
        assert_eq!(places, [(2.0, 0.5), (4.0, 0.5)]);
    }
}
