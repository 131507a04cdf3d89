//! The table of what was tried, where values of hyper-parameters are selected.

use std::collections::BTreeSet;

use comfy_table::Table;

use super::cells::{accuracy, runs};
use super::counts::Counts;
use super::report::{Comparison, RunRow};
use super::statistics::Row;
use crate::terminal::table::table;

/// What was tried, the best first; nothing where nothing was to choose.
pub(super) fn candidates(comparison: &Comparison, style: &str) -> Option<(Table, String)> {
    let chosen = |row: &Row| {
        comparison
            .algorithms
            .iter()
            .any(|own| own.algorithm == row.algorithm)
    };
    let mut rows: Vec<&Row> = comparison.candidates.iter().collect();
    let validation = |row: &Row| row.validation_accuracy.map_or(-1.0, |spread| spread.mean);
    // One with a run that failed or is missing is never chosen.
    let whole = |row: &Row| row.failed + row.unfinished == 0;
    let best = |a: &Row, b: &Row| validation(b).total_cmp(&validation(a));
    rows.sort_by(|a, b| whole(b).cmp(&whole(a)).then(best(a, b)));
    // Halving stops most of them early: an accuracy after few rounds is not to pass for one after all.
    let differ = rounds(comparison, |_| true).len() > 1;
    let cells = rows.iter().map(|row| {
        let mark = if chosen(row) { "chosen" } else { "" };
        let mut cells = vec![row.algorithm.clone(), runs(row)];
        if differ {
            cells.push(rounds_of(comparison, row));
        }
        cells.extend([
            accuracy(row.validation_accuracy),
            accuracy(row.chosen_test_accuracy),
            mark.to_owned(),
        ]);
        cells
    });
    let mut header = vec!["candidate", "runs"];
    header.extend(differ.then_some("rounds"));
    header.extend(["validation", "test", ""]);
    let ended = if differ {
        ", each for its own number of rounds"
    } else {
        ""
    };
    let among = match rows.iter().all(|row| whole(row)) {
        true => "",
        false => " of those whose runs are all complete",
    };
    let about = format!(
        "all that were tried{ended}; the best mean on validation examples{among} is chosen, and test examples have no part in it"
    );
    (!rows.is_empty()).then(|| (table(style, header, 1, cells), about))
}

/// After how many rounds a candidate's accuracies are.
fn rounds_of(comparison: &Comparison, row: &Row) -> String {
    let own = rounds(comparison, |run| run.algorithm == row.algorithm);
    match own.is_empty() {
        true => "-".to_owned(),
        false => Counts::of(own.into_iter()).to_string(),
    }
}

/// The different numbers of rounds of complete runs, which alone have a part in the accuracies.
fn rounds(comparison: &Comparison, counts: impl Fn(&RunRow) -> bool) -> BTreeSet<usize> {
    let complete = comparison.runs.iter();
    let complete = complete.filter(|run| run.status == "complete" && counts(run));
    complete.filter_map(|run| run.rounds).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::terminal::table::MARKDOWN;

    /// The table of two candidates whose runs came to these rounds, and what is said of it.
    fn told(rounds: [usize; 2]) -> String {
        let names = ["a", "b"];
        let rows = names.map(|name| Row::new(name, "fedavg", &[None], None));
        let run = |(name, rounds): (&str, usize)| {
            let (seed, status) = (1, "complete");
            json!({ "algorithm": name, "seed": seed, "status": status, "rounds": rounds, "folder": name })
        };
        let runs: Vec<Value> = names.into_iter().zip(rounds).map(run).collect();
        let comparison = json!({
            "data": "mnist", "partition": "iid", "clients": 10, "model": "logistic", "rounds": 18, "seeds": [1],
            "algorithms": [rows[0]], "candidates": rows, "runs": runs, "out": "out",
        });
        let comparison: Comparison = serde_json::from_value(comparison).unwrap();
        let (table, about) = candidates(&comparison, MARKDOWN).unwrap();
        format!("{table}\n{about}")
    }

    #[test]
    fn candidates_that_ended_early_have_their_rounds() {
        let text = told([18, 2]);
        assert!(text.contains("| rounds |"), "{text}");
        for (name, rounds) in [("a", "18"), ("b", " 2")] {
            let row = text
                .lines()
                .find(|line| line.starts_with(&format!("| {name} ")));
            assert!(row.unwrap().contains(&format!(" {rounds} |")), "{text}");
        }
        assert!(text.contains("each for its own number of rounds"), "{text}");
        assert!(!told([18, 18]).contains("rounds"));
    }
}
