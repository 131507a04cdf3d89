//! Cells that several tables of a comparison have.

use super::statistics::{Row, Spread};

/// How many runs the numbers are over, and what became of the others.
pub(super) fn runs(row: &Row) -> String {
    let others = [(row.failed, "failed"), (row.unfinished, "unfinished")];
    let others = others.iter().filter(|(n, _)| *n > 0);
    let others: String = others.map(|(n, what)| format!(", {n} {what}")).collect();
    format!("{}{others}", row.complete)
}

/// An accuracy in per cent.
pub(super) fn accuracy(spread: Option<Spread>) -> String {
    match spread {
        Some(Spread { mean, std, .. }) => match std {
            Some(std) => format!("{:.2} ± {:.2} %", 100.0 * mean, 100.0 * std),
            None => format!("{:.2} %", 100.0 * mean),
        },
        None => "-".to_owned(),
    }
}
