//! A sweep as a drawing.

use std::path::Path;

use plotters::prelude::*;

use super::report::Row;
use crate::drawing;
use crate::error::CliError;
use crate::plot::{Area, Drawn, FONT, LineStyle, svg_text};

const SIZE: (u32, u32) = (880, 320);

/// Draws the time and the memory of a round over what varies, to a file whose name says the format.
pub(super) fn draw(
    path: &Path,
    axis: &str,
    values: &[usize],
    rows: &[Row],
) -> Result<(), CliError> {
    let svg = svg_text(SIZE, |root| drawn(root, axis, values, rows))?;
    drawing::write(path, &svg)
}

fn drawn(root: &Area<'_>, axis: &str, values: &[usize], rows: &[Row]) -> Drawn {
    let (left, right) = root.split_horizontally(SIZE.0 / 2);
    let points = |y: fn(&Row) -> f64| -> Vec<(f64, f64)> {
        let pairs = values.iter().zip(rows);
        pairs.map(|(&x, row)| (x as f64, y(row))).collect()
    };
    chart(
        &left,
        (axis, "ms a round"),
        points(|row| 1e3 * row.round_s()),
    )?;
    chart(&right, (axis, "peak memory, MB"), points(Row::peak_mb))
}

fn chart(area: &Area<'_>, (x, y): (&str, &str), points: Vec<(f64, f64)>) -> Drawn {
    let known = points.iter().filter(|(_, y)| y.is_finite());
    let known: Vec<(f64, f64)> = known.copied().collect();
    let ends = |start: f64, pick: fn(f64, f64) -> f64| known.iter().map(|p| p.0).fold(start, pick);
    let (low, high) = (ends(f64::INFINITY, f64::min).min(1e9), ends(1.0, f64::max));
    let top = 1.2 * known.iter().map(|p| p.1).fold(0.0, f64::max).max(1e-3);
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(58)
        .build_cartesian_2d((0.8 * low..1.25 * high).log_scale(), 0.0..top)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.1))
        .axis_style(BLACK.mix(0.5))
        .label_style(FONT)
        .x_desc(x)
        .y_desc(y)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .draw()?;
    let colour = LineStyle::nth(0).colour;
    chart.draw_series(known.iter().map(|&p| Circle::new(p, 3, colour.filled())))?;
    chart.draw_series([PathElement::new(known, colour.stroke_width(2))])?;
    Ok(())
}
