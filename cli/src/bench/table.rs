//! Measurements as a Markdown table.

use super::report::Row;
use crate::table::{MARKDOWN, table};

/// A line for each row; the ratios are to the first.
pub(super) fn markdown(what: &str, rows: &[Row]) -> String {
    let header = [
        what,
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
    let cells = rows.iter().map(|row| cells(row, &rows[0]));
    format!("{}\n", table(MARKDOWN, header, 1, cells))
}

fn cells(row: &Row, first: &Row) -> [String; 14] {
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
        known(row.some(|run| run.test_loss), 6),
    ]
}
