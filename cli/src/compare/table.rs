//! The table of a comparison: a row for each algorithm.

use comfy_table::Table;

use super::candidate_table::candidates;
use super::cells::{accuracy, runs};
use super::differences;
use super::quantity::{Quantity, mixed};
use super::report::Comparison;
use super::statistics::{Row, Spread};
use crate::run::Models;
use crate::terminal::table::{BORDERS, MARKDOWN, table, wrapped};
use crate::terminal::{bytes, percent};

/// For people at a terminal.
pub(super) fn text(comparison: &Comparison) -> String {
    let tables = tables(comparison, BORDERS).into_iter();
    let tables: String = tables
        .map(|(table, about)| format!("{table}\n{}\n\n", wrapped(&about)))
        .collect();
    format!("{tables}kept in {}\n", comparison.out)
}

/// `comparison.md`.
pub(super) fn markdown(comparison: &Comparison) -> String {
    let tables = tables(comparison, MARKDOWN).into_iter();
    let tables = tables.map(|(table, about)| format!("{table}\n\n{about}\n"));
    tables.collect::<Vec<_>>().join("\n")
}

/// Accuracies, differences and costs, each narrow enough for a terminal, and what their numbers are.
pub(crate) fn tables(comparison: &Comparison, style: &str) -> Vec<(Table, String)> {
    let accuracies = of_algorithms(comparison, style, accuracy_columns(comparison));
    let costs = of_algorithms(comparison, style, cost_columns(comparison));
    // Of algorithms without an accuracy, nothing is compared.
    let known = comparison.algorithms.iter();
    let known = known.filter(|row| row.accuracy.is_some());
    let mixed = mixed(known.map(|row| row.accuracy_of));
    let about_pairs = (comparison.seeds.len(), mixed);
    let differences = differences::text(&comparison.differences, about_pairs, style);
    let first = [(accuracies, about(comparison))].into_iter();
    first
        .chain(candidates(comparison, style))
        .chain(differences)
        .chain([(costs, about_costs(comparison))])
        .collect()
}

/// What is reached in the table of costs, or what is in it where nothing was to be reached.
fn about_costs(comparison: &Comparison) -> String {
    let Some(target) = comparison.target.map(percent) else {
        return "bytes in all directions of all clients, and the time of training".to_owned();
    };
    let of = match comparison.target_of {
        Quantity::LocalAccuracy => "a local accuracy",
        Quantity::Accuracy | Quantity::ChosenTestAccuracy => "an accuracy",
    };
    format!(
        "reached, rounds, bytes: in how many runs and after how much {of} of {target} was reached"
    )
}

/// What the numbers are of.
fn about(comparison: &Comparison) -> String {
    let Comparison {
        data,
        partition,
        clients,
        model,
        rounds,
        seeds,
        ..
    } = comparison;
    let over = match seeds.len() {
        1 => "one seed".to_owned(),
        n => format!("mean ± standard deviation over {n} seeds"),
    };
    let rows = &comparison.algorithms;
    let choice = match rows.iter().any(|row| row.validation_accuracy.is_some()) {
        true => "chosen: the best round on validation examples".to_owned(),
        false => {
            "best: the highest test accuracy of all evaluations, by which no model was selected"
                .to_owned()
        }
    };
    let choice = match comparison.candidates.len() {
        0 => choice,
        n => format!("{choice}; the best of {n} candidates by validation accuracy"),
    };
    let untested = untested(rows);
    format!(
        "{data}, {clients} clients by {partition}, {model}, {rounds} rounds; {over}; {choice}{untested}"
    )
}

/// Why algorithms whose runs are complete have no accuracy.
fn untested(rows: &[Row]) -> String {
    let of_clients = |row: &&Row| row.complete > 0 && row.accuracy_of == Models::Clients;
    let untested = rows.iter().filter(of_clients);
    let untested = untested.filter(|row| row.accuracy.is_none());
    let untested: Vec<&str> = untested.map(|row| row.algorithm.as_str()).collect();
    match untested.is_empty() {
        true => String::new(),
        false => format!(
            "; no accuracy of {}: no client has test examples of its own, so that the clients' own models are not tested",
            untested.join(", ")
        ),
    }
}

/// A column's title, and what a row has in it.
type Column = (&'static str, fn(&Row) -> String);

/// A table of an algorithm's name and other columns.
fn of_algorithms(comparison: &Comparison, style: &str, others: Vec<Column>) -> Table {
    let name: Column = ("algorithm", |row| row.algorithm.clone());
    let columns: Vec<Column> = [name].into_iter().chain(others).collect();
    let cells = |row| columns.iter().map(move |(_, cell)| cell(row));
    let header = columns.iter().map(|(title, _)| title);
    table(style, header, 1, comparison.algorithms.iter().map(cells))
}

fn accuracy_columns(comparison: &Comparison) -> Vec<Column> {
    let rows = &comparison.algorithms;
    let mut columns: Vec<Column> = vec![("runs", runs)];
    // Whose models an accuracy is of stands beside it, unless all are the server's.
    let personal = rows.iter().any(|row| row.accuracy_of == Models::Clients);
    let title = if personal {
        "accuracy"
    } else {
        "test accuracy"
    };
    columns.push((title, |row| accuracy(row.accuracy)));
    if personal {
        columns.push(("of", |row| whose(row).into()));
    }
    // What is best on test examples is nothing that a user could have chosen.
    let validated = rows.iter().any(|row| row.validation_accuracy.is_some());
    if validated {
        columns.push(("validation", |row| accuracy(row.validation_accuracy)));
        columns.push(("chosen", |row| accuracy(row.chosen_test_accuracy)));
    } else {
        columns.push(("best", |row| accuracy(row.best_accuracy)));
    }
    if comparison.target_of == Quantity::LocalAccuracy {
        // That is what is compared; the files have the accuracy of the server's model.
        columns.push(("local accuracy", |row| accuracy(row.local_accuracy)));
    } else if personal {
        columns.push(("server's model", |row| accuracy(row.test_accuracy)));
    } else if !validated && rows.iter().any(|row| row.local_accuracy.is_some()) {
        // Beside what is chosen it would not fit a terminal; the files have it.
        columns.push(("local accuracy", |row| accuracy(row.local_accuracy)));
    }
    columns
}

fn cost_columns(comparison: &Comparison) -> Vec<Column> {
    let mut columns: Vec<Column> = vec![
        ("reached", reached),
        ("rounds", rounds_to_target),
        ("bytes", |row| sent(row.bytes_to_target)),
    ];
    if comparison.target.is_none() {
        columns.clear();
    }
    let costs: [Column; 2] = [
        ("bytes a round", |row| sent(row.bytes_per_round)),
        ("time a round", |row| time(row.seconds_per_round)),
    ];
    columns.extend(costs);
    columns
}

/// Whose models an algorithm's accuracy is of.
fn whose(row: &Row) -> &'static str {
    match row.accuracy_of {
        Models::Clients => "clients' own models",
        Models::Server => "server's model",
    }
}

/// How many runs reached the target.
fn reached(row: &Row) -> String {
    let runs = row.rounds_to_target.map_or(0, |spread| spread.runs);
    format!("{runs} of {}", row.complete)
}

/// Over the runs that reached it.
fn rounds_to_target(row: &Row) -> String {
    let Some(Spread { mean, std, .. }) = row.rounds_to_target else {
        return "-".to_owned();
    };
    let std = std.map_or_else(String::new, |std| format!(" ± {std:.1}"));
    format!("{mean:.1}{std}")
}

fn sent(spread: Option<Spread>) -> String {
    spread.map_or("-".to_owned(), |s| bytes(s.mean.round() as u64))
}

fn time(spread: Option<Spread>) -> String {
    match spread {
        Some(s) if s.mean < 1.0 => format!("{:.1} ms", 1000.0 * s.mean),
        Some(s) => format!("{:.2} s", s.mean),
        None => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_read_well() {
        let spread = |mean, std| Some(Spread { mean, std, runs: 2 });
        assert_eq!(accuracy(spread(0.9123, Some(0.0051))), "91.23 ± 0.51 %");
        assert_eq!(accuracy(spread(0.5, None)), "50.00 %");
        assert_eq!(accuracy(None), "-");
        assert_eq!(time(spread(0.0123, None)), "12.3 ms");
        assert_eq!(time(spread(61.5, Some(1.0))), "61.50 s");
        assert_eq!(sent(spread(1.5e6, Some(3.0))), "1.5 MB");
    }

    #[test]
    fn a_row_says_what_it_is_over() {
        let mut row = Row::new("a", "fedavg", &[None, None], None);
        assert_eq!(
            (runs(&row), rounds_to_target(&row)),
            ("0, 2 unfinished".into(), "-".into())
        );
        (row.complete, row.failed, row.unfinished) = (3, 1, 0);
        row.rounds_to_target = Some(Spread {
            mean: 12.5,
            std: Some(0.7),
            runs: 2,
        });
        assert_eq!(runs(&row), "3, 1 failed");
        assert_eq!(
            (&*reached(&row), &*rounds_to_target(&row)),
            ("2 of 3", "12.5 ± 0.7")
        );
    }
}
