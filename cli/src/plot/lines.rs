//! Charts of lines over rounds or bytes, and of points in the plane.

use std::path::Path;

use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::{
    Area, Axis, Drawn, FONT, LETTER, LINE, LineStyle, PhaseMark, legend, phase_marks, svg_text,
    target_style,
};
use crate::error::CliError;
use crate::files::write_text;

/// A chart in a file, and one of several in a page, in pixels.
const SIZE: (u32, u32) = (520, 380);
const PANEL: (u32, u32) = (420, 280);

/// Something with a name, drawn in one style.
#[derive(Clone, Default)]
pub(crate) struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    /// The ends of an interval around each point; empty where there is none.
    pub band: Vec<(f64, f64)>,
}

impl Series {
    /// A line without a band.
    pub fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            points,
            band: vec![],
        }
    }
}

/// What a chart shows.
#[derive(Clone, Copy)]
pub(crate) struct Chart<'a> {
    pub x: Axis<'a>,
    pub y: Axis<'a>,
    /// A fraction that is to be reached.
    pub target: Option<f64>,
    /// Where the algorithm's phases begin, of a chart over rounds.
    pub phases: &'a [PhaseMark],
}

impl<'a> Chart<'a> {
    /// Lines over rounds.
    pub fn rounds(y: Axis<'a>) -> Self {
        Self {
            x: Axis::Rounds,
            y,
            target: None,
            phases: &[],
        }
    }

    /// The same with the beginnings of phases.
    pub fn with_phases(self, phases: &'a [PhaseMark]) -> Self {
        Self { phases, ..self }
    }

    /// Points in the plane.
    pub fn points() -> Self {
        Self {
            x: Axis::Coordinate,
            y: Axis::Coordinate,
            target: None,
            phases: &[],
        }
    }
}

/// Draws series to an SVG file, with their names. Values that are not finite are left out.
pub(crate) fn draw(path: &Path, what: Chart<'_>, series: &[Series]) -> Result<(), CliError> {
    write_text(path, &text(&[(what, series)])?)
}

/// Charts of series with the same names, side by side, as text.
pub(crate) fn text(charts: &[(Chart<'_>, &[Series])]) -> Result<String, CliError> {
    let series = charts.first().map_or(&[][..], |(_, series)| series);
    let longest = series.iter().map(|s| s.name.chars().count()).max();
    let legend_width = (longest.unwrap_or(0).max("target 100.0 %".len()) * LETTER) as u32 + 60;
    let width = SIZE.0 * charts.len() as u32;
    let height = SIZE.1.max((series.len() as u32 + 2) * LINE as u32);
    svg_text((width + legend_width, height), |root| {
        let (left, right) = root.split_horizontally(width);
        let areas = left.split_evenly((1, charts.len()));
        let mut all = areas.iter().zip(charts);
        all.try_for_each(|(area, (what, series))| chart(area, *what, series))?;
        let target = charts.iter().find_map(|(what, _)| what.target);
        legend(&right, series.iter().map(|one| one.name.as_str()), target)
    })
}

/// A small chart as text, for a page that names the series.
pub(crate) fn panel(what: Chart<'_>, series: &[Series]) -> Result<String, CliError> {
    svg_text(PANEL, |root| chart(root, what, series))
}

/// Draws series into an area.
fn chart(area: &Area<'_>, what: Chart<'_>, series: &[Series]) -> Drawn {
    let xs = series.iter().flat_map(finite).map(|(point, _)| point.0);
    let ys = series.iter().flat_map(finite);
    let ys = ys.flat_map(|(point, band)| [point.1, band.0, band.1]);
    let (x, y) = (what.x.range(xs), what.y.range(ys.chain(what.target)));
    let mut context = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(what.y.label_area())
        .build_cartesian_2d(x.0..x.1, y.0..y.1)?;
    let mut mesh = context.configure_mesh();
    mesh.light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.1))
        .axis_style(BLACK.mix(0.5))
        .label_style(FONT)
        .x_labels(what.x.labels(x.1))
        .y_labels(8);
    let (x_label, y_label) = (what.x.label(x), what.y.label(y));
    mesh.x_label_formatter(&x_label).y_label_formatter(&y_label);
    if let Some(title) = what.x.title() {
        mesh.x_desc(title);
    }
    if let Some(title) = what.y.title() {
        mesh.y_desc(title);
    }
    mesh.draw()?;
    phase_marks::draw(&mut context, what.phases, y)?;
    for (i, one) in series.iter().enumerate() {
        let LineStyle { colour, dash } = LineStyle::nth(i);
        if let Axis::Coordinate = what.x {
            let dots = finite(one).map(|(p, _)| Circle::new(p, 2, colour.mix(0.6).filled()));
            context.draw_series(dots)?;
            continue;
        }
        if !one.band.is_empty() {
            let ends = |end: fn((f64, f64)) -> f64| {
                finite(one).map(move |(p, band)| (p.0, end(band).clamp(y.0, y.1)))
            };
            let mut outline: Vec<_> = ends(|band| band.1).collect();
            let mut lower: Vec<_> = ends(|band| band.0).collect();
            lower.reverse();
            outline.append(&mut lower);
            context.draw_series([Polygon::new(outline, colour.mix(0.15))])?;
        }
        let line: Vec<_> = finite(one).map(|(point, _)| point).collect();
        // A line of one point is not seen.
        if let [only] = line[..] {
            context.draw_series([Circle::new(only, 3, colour.filled())])?;
        }
        let style = colour.stroke_width(2);
        match dash {
            None => context.draw_series([PathElement::new(line, style)])?,
            Some((dash, gap)) => {
                context.draw_series([DashedPathElement::new(line, dash, gap, style)])?
            }
        };
    }
    if let Some(target) = what.target {
        let line = [(x.0, target), (x.1, target)];
        let (dash, gap, pen) = target_style();
        context.draw_series([DashedPathElement::new(line, dash, gap, pen)])?;
    }
    Ok(())
}

/// The points with the ends of their bands; a point without one is its own band.
fn finite(series: &Series) -> impl Iterator<Item = ((f64, f64), (f64, f64))> + '_ {
    let banded = |(i, point): (usize, &(f64, f64))| {
        let band = series.band.get(i).copied();
        (*point, band.unwrap_or((point.1, point.1)))
    };
    let all = series.points.iter().enumerate().map(banded);
    all.filter(|((x, y), (low, high))| [x, y, low, high].iter().all(|v| v.is_finite()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each text of a drawing, with the x of its first letter.
    fn starts(svg: &str) -> Vec<(String, f64)> {
        let text = |part: &str| {
            let (tag, rest) = part.split_once('>')?;
            let (_, x) = tag.split_once(" x=\"")?;
            let x: f64 = x.split('"').next()?.parse().ok()?;
            let text = rest.split('<').next()?.trim().to_owned();
            let wide = (7 * text.chars().count()) as f64;
            Some((text, if tag.contains("\"end\"") { x - wide } else { x }))
        };
        svg.split("<text").skip(1).filter_map(text).collect()
    }

    #[test]
    fn the_name_of_an_axis_of_bytes_is_left_of_its_labels() {
        let line = [Series::line("", vec![(1.0, 9e7), (2.0, 1.9e8)])];
        let svg = panel(Chart::rounds(Axis::Bytes("bytes")), &line).unwrap();
        let texts = starts(&svg);
        let name = texts.iter().find(|(text, _)| text == "bytes").unwrap().1;
        let labels: Vec<_> = texts
            .iter()
            .filter(|(text, _)| text.ends_with("MB"))
            .collect();
        assert!(
            labels.iter().any(|(text, _)| text == "150.0 MB"),
            "{texts:?}"
        );
        for (label, start) in labels {
            // The name is turned, so that it is as wide as a letter is high.
            assert!(
                name + 13.0 / 2.0 < *start,
                "{label}: {name}, {start}\n{svg}"
            );
        }
    }

    #[test]
    fn an_axis_of_rounds_has_no_parts_of_rounds() {
        for rounds in [1, 2, 3, 4, 7, 2000] {
            let points = (1..=rounds).map(|round| (f64::from(round), 0.5)).collect();
            let chart = Chart::rounds(Axis::Share("accuracy"));
            let svg = panel(chart, &[Series::line("", points)]).unwrap();
            let labels: Vec<f64> = starts(&svg)
                .iter()
                .filter_map(|(text, _)| text.parse().ok())
                .collect();
            assert!(labels.len() > 1, "{rounds}: {labels:?}");
            assert!(
                labels.iter().all(|x| x.fract() == 0.0),
                "{rounds}: {labels:?}"
            );
        }
    }

    #[test]
    fn an_axis_holds_what_is_finite() {
        let one = Series::line("", vec![(0.0, 1.0), (10.0, f64::NAN), (5.0, 3.0)]);
        let values = || finite(&one).map(|(point, _)| point.1);
        assert_eq!(Axis::Coordinate.range(values()), (0.9, 3.1));
        assert_eq!(Axis::Rounds.range(values()), (0.0, 3.1));
        assert_eq!(Axis::Share("").range([0.5, 1.0].into_iter()).1, 1.0);
        assert_eq!(Axis::Coordinate.range([].into_iter()), (0.0, 1.0));
    }

    #[test]
    fn bands_belong_to_their_points() {
        let one = Series {
            band: vec![(0.0, 2.0), (f64::NAN, 4.0)],
            ..Series::line("", vec![(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)])
        };
        let found: Vec<_> = finite(&one).collect();
        assert_eq!(found, [((0.0, 1.0), (0.0, 2.0)), ((2.0, 5.0), (5.0, 5.0))]);
    }
}
