//! Clients against classes as a heat map.

use std::path::Path;

use plotters::prelude::*;

use super::error::DataCommandError;

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
) -> Result<(), DataCommandError> {
    // The backend writes the file when it is dropped and keeps silent about errors.
    std::fs::write(path, "").map_err(|source| DataCommandError::Write {
        path: path.to_path_buf(),
        source,
    })?;
    drawn(path, title, counts, names).map_err(|error| DataCommandError::Draw {
        path: path.to_path_buf(),
        message: error.to_string(),
    })
}

fn drawn(
    path: &Path,
    title: &str,
    counts: &[Vec<usize>],
    names: &[String],
) -> Result<(), Box<dyn std::error::Error>> {
    let (rows, columns) = (counts.len().max(1), names.len().max(1));
    let cell = (SIDE / rows.max(columns)).clamp(CELL, 40) as u32;
    let (width, height) = (columns as u32 * cell, rows as u32 * cell);
    let size = (width.max(200) + LEFT + 20, height + TOP + BOTTOM);
    let root = SVGBackend::new(path, size).into_drawing_area();
    root.fill(&WHITE)?;
    let font = ("sans-serif", 12).into_font().color(&BLACK);
    root.draw(&Text::new(title, (LEFT as i32, 14), font.clone()))?;
    let most = counts.iter().flatten().copied().max().unwrap_or(0).max(1);
    let at = |row: usize, column: usize| {
        let x = LEFT as usize + column * cell as usize;
        let y = TOP as usize + row * cell as usize;
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
    root.present()?;
    Ok(())
}
