//! Accuracy over rounds and over bytes, side by side.

use std::path::Path;

use super::statistics::MeanPoint;
use crate::error::CliError;
use crate::files::write_text;
use crate::plot::{Axis, Chart, Series, text};

/// An algorithm's name and its mean curve.
type Curve<'a> = (&'a str, Vec<MeanPoint>);

/// Draws mean curves with a band of one standard deviation, and the target as a dashed line, to
/// an SVG file. `label` says what the accuracy is of.
pub(crate) fn draw(
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
