//! The names of lines, beside a chart.

use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::{Area, Drawn, FONT, LineStyle};

/// A line of the legend, and the width of a letter.
pub(crate) const LINE: i32 = 20;
pub(crate) const LETTER: usize = 7;

/// Draws the names, each with a piece of its line.
pub(crate) fn legend<'n>(area: &Area<'_>, names: impl Iterator<Item = &'n str>) -> Drawn {
    for (i, name) in names.enumerate() {
        let y = 24 + LINE * i as i32;
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
        let font = FONT.into_font().color(&BLACK);
        area.draw(&Text::new(name, (38, y - 7), font))?;
    }
    Ok(())
}
