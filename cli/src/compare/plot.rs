//! Accuracy over rounds and over bytes, side by side.

use std::path::Path;

use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::statistics::MeanPoint;
use crate::error::CliError;
use crate::output::bytes;
use crate::plot::{Area, COLOURS, Drawn, FONT, LETTER, LINE, svg};

/// A chart's width, and the drawing's height, in pixels.
const CHART: u32 = 440;
const HEIGHT: u32 = 340;

/// An algorithm's name and its mean curve.
type Curve<'a> = (&'a str, Vec<MeanPoint>);

/// Draws mean curves with a band of one standard deviation, and the target as a dashed line, to
/// an SVG file.
pub(super) fn draw(path: &Path, curves: &[Curve<'_>], target: Option<f64>) -> Result<(), CliError> {
    let longest = curves.iter().map(|(name, _)| name.chars().count()).max();
    let legend_width = (longest.unwrap_or(0).max(12) * LETTER) as u32 + 50;
    let height = HEIGHT.max((curves.len() as u32 + 3) * LINE as u32);
    let size = (2 * CHART + legend_width, height);
    svg(path, size, |root| drawn(root, curves, target))
}

fn drawn(root: &Area<'_>, curves: &[Curve<'_>], target: Option<f64>) -> Drawn {
    let (left, rest) = root.split_horizontally(CHART);
    let (right, key) = rest.split_horizontally(CHART);
    chart(
        &left,
        "round",
        &|x| format!("{x:.0}"),
        curves,
        target,
        |p| p.round,
    )?;
    let sent = |x: &f64| bytes(*x as u64);
    chart(&right, "bytes sent", &sent, curves, target, |p| p.bytes)?;
    legend(&key, curves, target)
}

fn chart(
    area: &Area<'_>,
    title: &str,
    label: &dyn Fn(&f64) -> String,
    curves: &[Curve<'_>],
    target: Option<f64>,
    x: fn(&MeanPoint) -> f64,
) -> Drawn {
    let points = || curves.iter().flat_map(|(_, curve)| curve);
    let end = points().map(x).fold(0.0, f64::max).max(1.0);
    let (low, high) = range(points(), target);
    let decimals = usize::from(high - low < 0.1);
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(58)
        .build_cartesian_2d(0.0..end, low..high)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.1))
        .axis_style(BLACK.mix(0.5))
        .label_style(FONT)
        .x_desc(title)
        .y_desc("test accuracy")
        .x_labels(5)
        .y_labels(8)
        .x_label_formatter(label)
        .y_label_formatter(&|y| format!("{:.decimals$} %", 100.0 * y))
        .draw()?;
    for ((_, curve), colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        let upper = curve.iter().map(|p| (x(p), (p.mean + p.std).min(high)));
        let lower = curve.iter().map(|p| (x(p), (p.mean - p.std).max(low)));
        let band: Vec<_> = upper.chain(lower.rev()).collect();
        chart.draw_series([Polygon::new(band, colour.mix(0.15))])?;
        let line: Vec<_> = curve.iter().map(|p| (x(p), p.mean)).collect();
        // A line of one point is not seen.
        if let [only] = line[..] {
            chart.draw_series([Circle::new(only, 3, colour.filled())])?;
        }
        chart.draw_series([PathElement::new(line, colour.stroke_width(2))])?;
    }
    if let Some(target) = target {
        let line = [(0.0, target), (end, target)];
        chart.draw_series([DashedPathElement::new(line, 5, 4, dashes())])?;
    }
    Ok(())
}

/// What the vertical axis holds: everything with a margin, within 0 and 1.
fn range<'p>(points: impl Iterator<Item = &'p MeanPoint>, target: Option<f64>) -> (f64, f64) {
    let ends = points.flat_map(|p| [p.mean - p.std, p.mean + p.std]);
    let ends: Vec<f64> = ends.chain(target).collect();
    let low = ends.iter().copied().fold(1.0, f64::min);
    let high = ends.iter().copied().fold(0.0, f64::max);
    let margin = (0.05 * (high - low)).max(0.01);
    let (low, high) = ((low - margin).max(0.0), (high + margin).min(1.0));
    if low < high { (low, high) } else { (0.0, 1.0) }
}

fn legend(area: &Area<'_>, curves: &[Curve<'_>], target: Option<f64>) -> Drawn {
    let font = || FONT.into_font().color(&BLACK);
    let top = 24;
    for (i, ((name, _), colour)) in curves.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let y = top + LINE * i as i32;
        let band = [(4, y - 6), (28, y + 6)];
        area.draw(&Rectangle::new(band, colour.mix(0.15).filled()))?;
        let line = vec![(4, y), (28, y)];
        area.draw(&PathElement::new(line, colour.stroke_width(2)))?;
        area.draw(&Text::new(*name, (36, y - 7), font()))?;
    }
    if let Some(target) = target {
        let y = top + LINE * curves.len() as i32;
        let line = [(4, y), (28, y)];
        area.draw(&DashedPathElement::new(line, 5, 4, dashes()))?;
        let text = format!("target {:.1} %", 100.0 * target);
        area.draw(&Text::new(text, (36, y - 7), font()))?;
    }
    Ok(())
}

/// How the target's line looks.
fn dashes() -> ShapeStyle {
    BLACK.mix(0.5).stroke_width(1)
}
