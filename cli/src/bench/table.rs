//! Measurements as tables.

use super::report::Row;
use crate::terminal::table::{BORDERS, MARKDOWN, table};

/// What is measured, after the name.
const HEADER: [&str; 13] = [
    "runs",
    "client-steps/s",
    "×",
    "ms a round",
    "×",
    "to first round, s",
    "peak MB",
    "MB more",
    "device MB",
    "device idle",
    "kernels a step",
    "reads a round",
    "test loss",
];

/// A line for each row, as Markdown; the ratios are to the first.
pub(super) fn markdown(what: &str, rows: &[Row]) -> String {
    let header = [what].into_iter().chain(HEADER);
    let cells = rows.iter().map(|row| cells(row, &rows[0], 6));
    format!("{}\n", table(MARKDOWN, header, 1, cells))
}

/// The column of what another one says already, for which a terminal has no room.
const MORE_MEMORY: usize = 8;

/// The same for a terminal, without columns of which nothing is known.
pub(super) fn text(what: &str, rows: &[Row]) -> String {
    let cells: Vec<[String; 14]> = rows.iter().map(|row| cells(row, &rows[0], 4)).collect();
    let known =
        |column: &usize| *column != MORE_MEMORY && cells.iter().any(|row| row[*column] != "-");
    let columns: Vec<usize> = (0..=HEADER.len()).filter(known).collect();
    let header: Vec<&str> = [what]
        .into_iter()
        .chain(HEADER)
        // A title has room to break.
        .map(|title| match title {
            "client-steps/s" => "client steps a second",
            title => title,
        })
        .collect();
    let header = columns.iter().map(|&column| header[column]);
    let cells = cells
        .iter()
        .map(|row| columns.iter().map(move |&column| row[column].as_str()));
    format!("{}\n", table(BORDERS, header, 1, cells))
}

/// The cells of a row; its loss has so many decimals.
fn cells(row: &Row, first: &Row, decimals: usize) -> [String; 14] {
    let speed = |row: &Row| row.median(|run| run.client_steps_per_s);
    let known = |x: f64, digits: usize| match x.is_finite() {
        true => format!("{x:.digits$}"),
        false => "-".to_owned(),
    };
    [
        row.name.clone(),
        row.runs.len().to_string(),
        known(speed(row), 0),
        known(speed(row) / speed(first), 2),
        known(1e3 * row.round_s(), 2),
        known(row.round_s() / first.round_s(), 2),
        known(row.median(|run| run.time_to_first_round_s), 2),
        known(row.peak_mb(), 0),
        known(row.peak_mb() - first.peak_mb(), 0),
        known(row.some(|run| run.device_memory_mb), 0),
        known(row.some(|run| run.idle_share), 2),
        known(row.kernels(), 0),
        known(row.some(|run| run.reads_per_round), 0),
        known(row.some(|run| run.test_loss), decimals),
    ]
}
