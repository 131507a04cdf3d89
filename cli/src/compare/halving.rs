//! Successive halving (Jamieson and Talwalkar, AISTATS 2016): all candidates are trained for a few rounds,
//! and only the best on validation examples go on, each from where it stopped.

use std::sync::Arc;

use fedround::experiment::Status;
use fedround_data::Dataset;

use super::grid::Cell;
use super::line::Line;
use super::record::{Record, planned_rounds};
use super::report::runs_of;
use super::rungs::Halving;
use super::statistics::Spread;
use super::train::{Output, train};
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::run::LAST_PHASE;
use crate::terminal::interrupt::stop_requested;
use crate::terminal::{in_rounds, tell};

/// Trains all runs as far as their candidates come, until Ctrl-C, and reads what came of it. What an
/// earlier call has trained is not trained again. A run that it has trained for longer than its candidate comes now is
/// read as it was then, so that all runs of a candidate have as many rounds.
pub(super) fn train_by_halving(
    halving: Halving,
    catalog: &Catalog,
    data: &[Option<Arc<Dataset>>],
    cells: &mut [Cell],
    records: &mut [Option<Record>],
    output: Output<'_>,
) -> Result<(), CliError> {
    let Output { dir, quiet, .. } = output;
    let all = cells.iter().map(|cell| cell.entrant + 1).max().unwrap_or(0);
    let mut left: Vec<usize> = (0..all).collect();
    // After how many rounds each candidate was judged last.
    let mut judged = vec![usize::MAX; all];
    for rung in halving.rungs(all) {
        if !quiet {
            let (n, rounds) = (left.len(), in_rounds(rung.rounds));
            tell!("halving: {n} of {all} candidates, each to {rounds}");
        }
        left.iter().for_each(|&i| judged[i] = rung.rounds);
        let mut missing = vec![None; cells.len()];
        for (i, cell) in cells.iter_mut().enumerate() {
            if !left.contains(&cell.entrant) || reached(records[i].as_ref(), rung.rounds) {
                continue;
            }
            // One that was stopped on its way to a later rung goes all that way.
            let begun = planned_rounds(&dir.join(&cell.folder)).unwrap_or(0);
            cell.settings.rounds = rung.rounds.max(begun);
            missing[i].clone_from(&data[i]);
            records[i] = None;
        }
        train(catalog, &missing, cells, records, output)?;
        if stop_requested() {
            // Where these end is not known yet.
            left.iter().for_each(|&i| judged[i] = usize::MAX);
            break;
        }
        let next = rung.candidates.div_ceil(halving.keep_one_in);
        if rung.candidates > 1 && !in_early_phase(records, rung.rounds) {
            left = best(left, next, cells, records, rung.rounds);
        }
    }
    for (cell, record) in cells.iter().zip(records) {
        if let Some(run) = record {
            *run = run.at(judged[cell.entrant]);
        }
    }
    Ok(())
}

/// Whether a run can be judged after this many rounds without further training. A failed run can: it would
/// fail again.
fn reached(record: Option<&Record>, rounds: usize) -> bool {
    record.is_some_and(|run| match run.status {
        Status::Failed => true,
        Status::Complete => run.rounds >= rounds,
        Status::Interrupted => false,
    })
}

/// Whether after so many rounds some run is in a phase before the one that trains the model, and candidates
/// cannot be told apart.
fn in_early_phase(records: &[Option<Record>], rounds: usize) -> bool {
    let last = |run: &Record| {
        let mut lines = run.lines.iter().rev();
        lines.find(|line| line.round <= rounds)?.phase.clone()
    };
    let mut phases = records.iter().flatten().filter_map(last);
    phases.any(|phase| phase != LAST_PHASE)
}

/// The candidates with the best mean accuracy on validation examples until a round, in their order; of equal
/// ones the first.
fn best(
    left: Vec<usize>,
    count: usize,
    cells: &[Cell],
    records: &[Option<Record>],
    rounds: usize,
) -> Vec<usize> {
    let score = |candidate: usize| {
        let own = runs_of(candidate, cells, records).into_iter();
        let own: Option<Vec<f64>> = own.map(|run| until(&run?.at(rounds), rounds)).collect();
        Spread::of(own?).map(|spread| spread.mean)
    };
    let mut scored: Vec<(usize, Option<f64>)> = left.into_iter().map(|i| (i, score(i))).collect();
    let key = |score: Option<f64>| score.unwrap_or(f64::NEG_INFINITY);
    scored.sort_by(|a, b| key(b.1).total_cmp(&key(a.1)));
    let mut kept: Vec<usize> = scored.into_iter().take(count).map(|(i, _)| i).collect();
    kept.sort_unstable();
    kept
}

/// The best accuracy on validation examples that a run has had by a round. If phases train different models, only
/// evaluations of the kind of model that was evaluated last by then count. If the run was not evaluated by then,
/// as its steps were longer in an earlier call, its first evaluation counts.
fn until(run: &Record, rounds: usize) -> Option<f64> {
    if run.status != Status::Complete {
        return None;
    }
    let lines = run.lines.iter();
    let known = lines.filter_map(|line| Some((line, line.validation_accuracy?)));
    let known: Vec<(&Line, f64)> = known.collect();
    let by_then = known.partition_point(|(line, _)| line.round <= rounds);
    let by_then = known.get(..by_then.max(1))?;
    let of = by_then.last()?.0.accuracy_of;
    let same = by_then.iter().filter(|(line, _)| line.accuracy_of == of);
    same.map(|(_, accuracy)| *accuracy).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Models;

    #[test]
    fn a_run_is_judged_by_what_it_was_at_the_rung() {
        let line = |round: usize, validation: f64, phase: &str| Line {
            round,
            validation_accuracy: Some(validation),
            phase: Some(phase.to_owned()),
            ..Line::default()
        };
        let lines = [
            (1, 0.1, "distill"),
            (2, 0.4, "train"),
            (3, 0.3, "train"),
            (6, 0.9, "train"),
        ];
        let run = Record {
            rounds: 6,
            ..Record::of_lines(lines.map(|(r, v, p)| line(r, v, p)).to_vec())
        };
        assert_eq!(until(&run, 3), Some(0.4));
        assert_eq!(until(&run, 6), Some(0.9));
        // Steps of an earlier call may have been longer, so that the first evaluation is after this one.
        assert_eq!(until(&run, 0), Some(0.1));
        assert_eq!(until(&Record::of_lines(vec![Line::default()]), 6), None);
        assert!(reached(Some(&run), 3) && !reached(Some(&run), 7) && !reached(None, 1));
        let failed = Record {
            status: Status::Failed,
            ..run.clone()
        };
        assert_eq!(until(&failed, 6), None);
        assert!(reached(Some(&failed), 7));
        let runs = [None, Some(run)];
        assert!(in_early_phase(&runs, 1) && !in_early_phase(&runs, 2));
    }

    #[test]
    fn models_of_an_earlier_phase_do_not_judge_those_of_a_later_one() {
        let line = |round: usize, validation: f64, of: Models| Line {
            round,
            validation_accuracy: Some(validation),
            accuracy_of: Some(of),
            ..Line::default()
        };
        let run = Record::of_lines(vec![
            line(2, 0.8, Models::Server),
            line(4, 0.9, Models::Server),
            line(6, 0.5, Models::Clients),
            line(8, 0.4, Models::Clients),
        ]);
        assert_eq!(until(&run, 4), Some(0.9));
        assert_eq!(until(&run, 8), Some(0.5));
    }
}
