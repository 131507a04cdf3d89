//! The table for people: of each row, what the paper says and what our runs say.

use super::claims_table::{about_claims, claims};
use super::numbers_table::numbers;
use super::report::Report;
use crate::terminal::table::{BORDERS, MARKDOWN, wrapped};

/// At a terminal.
pub(super) fn text(report: &Report) -> String {
    let lines: String = about(report).map(|line| format!("- {line}\n")).collect();
    format!(
        "{}{}\n{}kept in {}\n",
        wrapped(&format!("{}\n", title(report))),
        tables(report, BORDERS, "\n"),
        wrapped(&lines),
        report.out
    )
}

/// `table.md`.
pub(super) fn markdown(report: &Report) -> String {
    let mut text = format!(
        "# {}\n\n{}\n\n{}\n\n",
        title(report),
        report.paper_title,
        tables(report, MARKDOWN, "\n\n"),
    );
    for line in about(report) {
        text += &format!("- {line}\n");
    }
    text
}

/// The numbers, and beneath them the claims.
fn tables(report: &Report, style: &str, between: &str) -> String {
    [numbers(report, style), claims(report, style)]
        .concat()
        .join(between)
}

fn title(report: &Report) -> String {
    let Report {
        paper,
        table,
        title,
        ..
    } = report;
    format!("{paper} {table}, {}: {title}", report.scale.name())
}

/// What the numbers are of, and how far from the paper's.
fn about(report: &Report) -> impl Iterator<Item = String> {
    let over = match report.seeds.len() {
        1 => "Ours: one seed.".to_owned(),
        n => format!("Ours: mean ± standard deviation over {n} seeds."),
    };
    let [complete, planned] = report.complete;
    let missing = (complete < planned).then(|| {
        format!("{complete} of {planned} runs are complete: numbers of fewer seeds say of how many they are.")
    });
    let changed = match report.changed.is_empty() {
        true => "The runs are of the full protocol.".to_owned(),
        false => format!("Not as in the paper: {}.", report.changed.join(", ")),
    };
    let claims = about_claims(report);
    let clients = report.partition_seed.map(|seed| {
        format!("All runs have the same clients, those of partition seed {seed}: intervals are about other initial weights, cohorts and batches, not about other clients.")
    });
    let first = std::iter::once(over)
        .chain(missing)
        .chain(clients)
        .chain(claims);
    first.chain([changed]).chain(report.notes.iter().cloned())
}
