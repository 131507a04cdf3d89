//! The files of a comparison beside its runs. They are written anew by every call.

use std::path::Path;

use serde::Serialize;

use super::grid::{Cell, Grid};
use super::record::Record;
use super::report::{Comparison, runs_of};
use super::select::choose;
use super::statistics::{MeanPoint, mean_curve};
use super::table;
use crate::error::CliError;
use crate::files::names::COMPARISON;
use crate::files::{json, write_csv, write_text};
use crate::plot::{Axis, Chart, Series, text};

/// A line of `curves.csv`: a round of a run.
#[derive(Serialize)]
struct Round<'a> {
    algorithm: &'a str,
    seed: u64,
    round: usize,
    /// All directions, all clients, with the rounds before it.
    bytes: u64,
    /// The accuracy of what the algorithm trains.
    accuracy: Option<f64>,
    test_accuracy: Option<f64>,
    test_loss: Option<f64>,
    train_loss: Option<f64>,
}

/// Writes all of them.
pub(super) fn write(
    dir: &Path,
    comparison: &Comparison,
    cells: &[Cell],
    grid: &Grid,
    records: &[Option<Record>],
) -> Result<(), CliError> {
    write_text(&dir.join(COMPARISON), &json(comparison)?)?;
    write_text(&dir.join("comparison.md"), &table::markdown(comparison))?;
    write_csv(&dir.join("comparison.csv"), &comparison.runs)?;
    write_curves(dir, cells, records)?;
    let chosen = choose(&grid.algorithms, |i| runs_of(i, cells, records)).into_iter();
    let curves: Vec<_> = chosen
        .map(|i| {
            let runs = runs_of(i, cells, records);
            (
                grid.algorithms[i].name.as_str(),
                mean_curve(&runs, comparison.target_of),
            )
        })
        .collect();
    let of = comparison.algorithms.iter().map(|row| row.accuracy_of);
    let label = comparison.target_of.label(of);
    draw_curves(&dir.join("accuracy.svg"), &curves, comparison.target, label)
}

/// Writes `curves.csv`: every round of every run.
pub(crate) fn write_curves(
    dir: &Path,
    cells: &[Cell],
    records: &[Option<Record>],
) -> Result<(), CliError> {
    let rounds = cells.iter().zip(records).flat_map(|(cell, record)| {
        let algorithm = &cell.name;
        let lines = record.iter().flat_map(|run| &run.lines);
        lines.map(|line| Round {
            algorithm,
            seed: cell.settings.run.seed,
            round: line.round,
            bytes: line.bytes,
            accuracy: line.accuracy,
            test_accuracy: line.test_accuracy,
            test_loss: line.test_loss,
            train_loss: line.train_loss,
        })
    });
    write_csv(&dir.join("curves.csv"), rounds)
}

/// An algorithm's name and its mean curve.
type Curve<'a> = (&'a str, Vec<MeanPoint>);

/// Draws accuracy over rounds and over bytes, side by side, to an SVG file: mean curves with a band of one standard
/// deviation, and the target as a dashed line. `label` says what the accuracy is of.
pub(crate) fn draw_curves(
    path: &Path,
    curves: &[Curve<'_>],
    target: Option<f64>,
    label: &str,
) -> Result<(), CliError> {
    let y = Axis::Share(label);
    let over_rounds = Chart {
        target,
        ..Chart::rounds(y)
    };
    let over_bytes = Chart {
        x: Axis::Bytes("bytes sent"),
        ..over_rounds
    };
    let series = |x: fn(&MeanPoint) -> f64| -> Vec<Series> {
        let one = |(name, curve): &Curve<'_>| Series {
            name: (*name).to_owned(),
            points: curve.iter().map(|p| (x(p), p.mean)).collect(),
            band: curve
                .iter()
                .map(|p| (p.mean - p.std, p.mean + p.std))
                .collect(),
        };
        curves.iter().map(one).collect()
    };
    let charts = [
        (over_rounds, &*series(|p| p.round)),
        (over_bytes, &*series(|p| p.bytes)),
    ];
    write_text(path, &text(&charts)?)
}
