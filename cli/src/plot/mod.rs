//! Drawings: lines over rounds, points in the plane, and heat maps.

mod axis;
mod heat_map;
mod legend;
mod lines;
mod phase_marks;
mod style;

use std::error::Error;

use plotters::coord::Shift;
use plotters::prelude::*;

pub(crate) use axis::Axis;
pub(crate) use heat_map::HeatMap;
use legend::{LETTER, LINE, legend, target_style};
pub(crate) use lines::{Chart, Series, draw, panel, text};
pub(crate) use phase_marks::PhaseMark;
pub(crate) use style::{LineStyle, heat};

use crate::error::CliError;

pub(crate) const FONT: (&str, i32) = ("sans-serif", 13);

pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// Whether something was drawn.
pub(crate) type Drawn = Result<(), Box<dyn Error>>;

/// A drawing of a size in pixels as text, white where nothing is drawn.
pub(crate) fn svg_text(
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
    drawn().map_err(|error| CliError::Chart(error.to_string()))?;
    Ok(text)
}
