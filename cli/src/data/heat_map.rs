//! Clients against classes as a heat map.

use std::path::Path;

use plotters::prelude::*;

use crate::error::CliError;
use crate::plot::{Area, Drawn, svg};

/// The longest side of the map and the smallest side of a cell, in pixels.
const SIDE: usize = 900;
const CELL: usize = 3;
/// The space for the numbers of clients and the names of classes.
const LEFT: u32 = 60;
const BOTTOM: u32 = 110;
const TOP: u32 = 40;
/// The names that are written along an axis at most.
const NAMES: usize = 40;

/// Draws who has how much of what, `[clients][classes]`, to an SVG file: the
/// darker the more.
pub(super) fn draw(
    path: &Path,
    title: &str,
    counts: &[Vec<usize>],
    names: &[String],
) -> Result<(), CliError> {
    let (rows, columns) = (counts.len().max(1), names.len().max(1));
    let cell = (SIDE / rows.max(columns)).clamp(CELL, 40);
    let (width, height) = ((columns * cell) as u32, (rows * cell) as u32);
    let size = (width.max(200) + LEFT + 20, height + TOP + BOTTOM);
    svg(path, size, |root| drawn(root, title, counts, names, cell))
}

fn drawn(
    root: &Area<'_>,
    title: &str,
    counts: &[Vec<usize>],
    names: &[String],
    cell: usize,
) -> Drawn {
    let (rows, columns) = (counts.len().max(1), names.len().max(1));
    let font = ("sans-serif", 12).into_font().color(&BLACK);
    root.draw(&Text::new(title, (LEFT as i32, 14), font.clone()))?;
    let most = counts.iter().flatten().copied().max().unwrap_or(0).max(1);
    let at = |row: usize, column: usize| {
        let x = LEFT as usize + column * cell;
        let y = TOP as usize + row * cell;
        (x as i32, y as i32)
    };
    for (row, counts) in counts.iter().enumerate() {
        for (column, &count) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            let shade = 0.15 + 0.85 * (count as f64 / most as f64);
            let corners = [at(row, column), at(row + 1, column + 1)];
            root.draw(&Rectangle::new(
                corners,
                RGBColor(0, 60, 120).mix(shade).filled(),
            ))?;
        }
    }
    let frame = [at(0, 0), at(rows, columns)];
    root.draw(&Rectangle::new(frame, BLACK.stroke_width(1)))?;
    for row in (0..rows).step_by(rows.div_ceil(NAMES)) {
        let (_, y) = at(row, 0);
        let place = (LEFT as i32 - 30, y + cell as i32 / 2 - 6);
        root.draw(&Text::new(row.to_string(), place, font.clone()))?;
    }
    let upright = font.transform(FontTransform::Rotate90);
    for (column, name) in names.iter().enumerate().step_by(columns.div_ceil(NAMES)) {
        let (x, y) = at(rows, column);
        let short: String = name.chars().take(14).collect();
        let place = (x + cell as i32 / 2 + 6, y + 6);
        root.draw(&Text::new(short, place, upright.clone()))?;
    }
    Ok(())
}
