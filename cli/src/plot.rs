//! Charts: lines over rounds, and points in the plane.

use std::error::Error;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::error::CliError;
use crate::files::write_text;

/// Colours that the field's plots have.
pub(crate) const COLOURS: [RGBColor; 10] = [
    RGBColor(31, 119, 180),
    RGBColor(255, 127, 14),
    RGBColor(44, 160, 44),
    RGBColor(214, 39, 40),
    RGBColor(148, 103, 189),
    RGBColor(140, 86, 75),
    RGBColor(227, 119, 194),
    RGBColor(127, 127, 127),
    RGBColor(188, 189, 34),
    RGBColor(23, 190, 207),
];
pub(crate) const FONT: (&str, i32) = ("sans-serif", 13);
/// A line of the legend, and the width of a letter.
pub(crate) const LINE: i32 = 20;
pub(crate) const LETTER: usize = 7;

/// A drawing, in pixels.
const SIZE: (u32, u32) = (520, 380);
/// Names that a legend has room for.
const NAMES: usize = 16;

pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// Whether something was drawn.
pub(crate) type Drawn = Result<(), Box<dyn Error>>;

/// Something with a name, drawn in one colour.
pub(crate) struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// What a chart shows.
#[derive(Clone, Copy)]
pub(crate) enum Chart<'a> {
    /// Lines over rounds, of a quantity.
    Rounds(&'a str),
    /// The same of a fraction, from 0 to 100 %.
    Shares(&'a str),
    /// Points, of coordinates without a unit.
    Points,
}

/// Draws series to an SVG file; those beyond a legend's room are drawn without a name. Values that
/// are not finite are left out.
pub(crate) fn draw(path: &Path, chart: Chart<'_>, series: &[Series]) -> Result<(), CliError> {
    write_text(path, &text(path, chart, series)?)
}

/// The same as text; `path` is where it will be.
pub(crate) fn text(path: &Path, chart: Chart<'_>, series: &[Series]) -> Result<String, CliError> {
    let longest = series.iter().map(|s| s.name.chars().count()).max();
    let legend_width = (longest.unwrap_or(0) * LETTER) as u32 + 60;
    let size = (SIZE.0 + legend_width, SIZE.1);
    svg_text(path, size, |root| drawn(root, chart, series))
}

/// Writes an SVG file of a size in pixels, which is white where nothing is drawn.
pub(crate) fn svg(
    path: &Path,
    size: (u32, u32),
    draw: impl FnOnce(&Area<'_>) -> Drawn,
) -> Result<(), CliError> {
    write_text(path, &svg_text(path, size, draw)?)
}

fn svg_text(
    path: &Path,
    size: (u32, u32),
    draw: impl FnOnce(&Area<'_>) -> Drawn,
) -> Result<String, CliError> {
    // Into memory: written to a file, the backend keeps silent about errors.
    let mut text = String::new();
    let drawn = || -> Drawn {
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        root.fill(&WHITE)?;
        draw(&root)?;
        Ok(root.present()?)
    };
    drawn().map_err(|error| CliError::Draw {
        path: path.to_owned(),
        message: error.to_string(),
    })?;
    Ok(text)
}

fn drawn(root: &Area<'_>, chart: Chart<'_>, series: &[Series]) -> Drawn {
    let (left, right) = root.split_horizontally(SIZE.0);
    let (x, y) = (axis(series, |p| p.0), axis(series, |p| p.1));
    let y = if let Chart::Shares(_) = chart {
        (0.0, 1.0)
    } else {
        y
    };
    let mut context = ChartBuilder::on(&left)
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(70)
        .build_cartesian_2d(x.0..x.1, y.0..y.1)?;
    let percent = matches!(chart, Chart::Shares(_));
    let label = move |y: &f64| match percent {
        true => format!("{:.0} %", 100.0 * y),
        false => number(*y),
    };
    let mut mesh = context.configure_mesh();
    mesh.light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.1))
        .axis_style(BLACK.mix(0.5))
        .label_style(FONT)
        .x_label_formatter(&|x| number(*x))
        .y_label_formatter(&label);
    if let Chart::Rounds(what) | Chart::Shares(what) = chart {
        mesh.x_desc("round").y_desc(what);
    }
    mesh.draw()?;
    for (one, colour) in series.iter().zip(COLOURS.iter().cycle()) {
        let points = finite(one);
        if let Chart::Points = chart {
            let dots = points.map(|p| Circle::new(p, 2, colour.mix(0.6).filled()));
            context.draw_series(dots)?;
            continue;
        }
        let line: Vec<_> = points.collect();
        // A line of one point is not seen.
        if let [only] = line[..] {
            context.draw_series([Circle::new(only, 3, colour.filled())])?;
        }
        context.draw_series([PathElement::new(line, colour.stroke_width(2))])?;
    }
    legend(&right, series)
}

fn finite(series: &Series) -> impl Iterator<Item = (f64, f64)> + '_ {
    let points = series.points.iter().copied();
    points.filter(|(x, y)| x.is_finite() && y.is_finite())
}

/// What an axis holds: everything with a margin.
fn axis(series: &[Series], of: fn((f64, f64)) -> f64) -> (f64, f64) {
    let all = || series.iter().flat_map(finite).map(of);
    let (low, high) = (
        all().fold(f64::INFINITY, f64::min),
        all().fold(f64::NEG_INFINITY, f64::max),
    );
    let margin = 0.05 * (high - low);
    match margin > 0.0 {
        true => (low - margin, high + margin),
        false if low.is_finite() => (low - 0.5, low + 0.5),
        false => (0.0, 1.0),
    }
}

/// A label of an axis, of few letters.
fn number(x: f64) -> String {
    match x.abs() {
        size if size != 0.0 && !(1e-3..1e5).contains(&size) => format!("{x:.1e}"),
        size if size >= 10.0 => format!("{x:.0}"),
        _ => format!("{}", (1e4 * x).round() / 1e4),
    }
}

fn legend(area: &Area<'_>, series: &[Series]) -> Drawn {
    let named = series.iter().zip(COLOURS.iter().cycle()).take(NAMES);
    for (i, (one, colour)) in named.enumerate() {
        let y = 24 + LINE * i as i32;
        area.draw(&Rectangle::new([(4, y - 5), (14, y + 5)], colour.filled()))?;
        let font = FONT.into_font().color(&BLACK);
        area.draw(&Text::new(one.name.as_str(), (22, y - 7), font))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_short() {
        let labels = [0.0, 0.25, 12.0, 123_456.0, 0.000_12].map(number);
        assert_eq!(labels, ["0", "0.25", "12", "1.2e5", "1.2e-4"]);
    }

    #[test]
    fn an_axis_holds_what_is_finite() {
        let series = |points| {
            [Series {
                name: String::new(),
                points,
            }]
        };
        let found = axis(&series(vec![(0.0, 1.0), (10.0, f64::NAN)]), |p| p.0);
        assert_eq!(found, (-0.5, 0.5));
        assert_eq!(axis(&series(vec![]), |p| p.0), (0.0, 1.0));
        let found = axis(&series(vec![(0.0, 1.0), (10.0, 2.0)]), |p| p.0);
        assert_eq!(found, (-0.5, 10.5));
    }
}
