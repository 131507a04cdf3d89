//! The names of lines, beside a chart.

use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::{Area, Drawn, FONT, LineStyle};
use crate::terminal::percent;

/// A line of the legend, and the width of a letter.
pub(super) const LINE: i32 = 20;
pub(super) const LETTER: usize = 7;

/// How the line of a target looks: the length of dashes and gaps, and the pen.
pub(super) fn target_style() -> (u32, u32, ShapeStyle) {
    (5, 4, BLACK.mix(0.5).stroke_width(1))
}

/// Draws the names, each with a piece of its line, and below them what the target is.
pub(super) fn legend<'n>(
    area: &Area<'_>,
    names: impl Iterator<Item = &'n str>,
    target: Option<f64>,
) -> Drawn {
    let place = |i: usize| 24 + LINE * i as i32;
    let write = |name: &str, y: i32| {
        let font = FONT.into_font().color(&BLACK);
        area.draw(&Text::new(name.to_owned(), (38, y - 7), font))
    };
    let mut count = 0;
    for (i, name) in names.enumerate() {
        count = i + 1;
        let y = place(i);
        let LineStyle { colour, dash } = LineStyle::nth(i);
        let line = [(4, y), (30, y)];
        match dash {
            None => area.draw(&PathElement::new(line, colour.stroke_width(2)))?,
            Some((dash, gap)) => {
                area.draw(&DashedPathElement::new(
                    line,
                    dash,
                    gap,
                    colour.stroke_width(2),
                ))?;
            }
        }
        write(name, y)?;
    }
    if let Some(target) = target {
        let (y, (dash, gap, pen)) = (place(count), target_style());
        area.draw(&DashedPathElement::new([(4, y), (30, y)], dash, gap, pen))?;
        write(&format!("target {}", percent(target)), y)?;
    }
    Ok(())
}
