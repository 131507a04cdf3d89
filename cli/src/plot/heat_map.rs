//! Values by row and column, as colours.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Area, Drawn, FONT, heat, svg_text};
use crate::error::CliError;

/// The width that cells share, and the sides that they have, in pixels.
const WIDTH: usize = 640;
const CELL_WIDTH: (usize, usize) = (3, 40);
const CELL_HEIGHT: usize = 16;
/// The space around the cells, without that of the rows' names.
const TOP: usize = 34;
const BOTTOM: usize = 84;
const RIGHT: usize = 24;
/// The width of a letter, and the letters of a name that are written.
const LETTER: usize = 7;
const LETTERS: usize = 22;

/// Values with the names of their rows and columns.
pub(crate) struct HeatMap<'a> {
    pub title: &'a str,
    /// What a column is.
    pub columns_are: &'a str,
    pub rows: &'a [String],
    pub columns: &'a [String],
    /// By row, from 0 to 1; nothing is drawn where there is none.
    pub values: &'a [Vec<Option<f64>>],
    /// What 0 and 1 are.
    pub ends: (&'a str, &'a str),
}

impl HeatMap<'_> {
    /// Draws it as text. Every row is named, and as many columns as there is room for.
    pub fn text(&self) -> Result<String, CliError> {
        let (least, most) = CELL_WIDTH;
        let cell = (WIDTH / self.columns.len().max(1)).clamp(least, most);
        let left = self.rows.iter().map(|name| short(name).chars().count());
        let left = LETTER * left.max().unwrap_or(0) + 16;
        let width = (left + cell * self.columns.len()).max(280) + RIGHT;
        let height = TOP + CELL_HEIGHT * self.rows.len() + BOTTOM;
        svg_text((width as u32, height as u32), |root| {
            self.drawn(root, left as i32, cell as i32)
        })
    }

    fn drawn(&self, root: &Area<'_>, left: i32, cell: i32) -> Drawn {
        let height = CELL_HEIGHT as i32;
        let at = |row: usize, column: usize| {
            let (x, y) = (cell * column as i32, height * row as i32);
            (left + x, TOP as i32 + y)
        };
        let font = |h, v| {
            let style = TextStyle::from(FONT.into_font()).color(&BLACK);
            style.pos(Pos::new(h, v))
        };
        let title = font(HPos::Left, VPos::Center);
        root.draw(&Text::new(self.title, (left, 16), title.clone()))?;
        let names = font(HPos::Right, VPos::Center);
        for (row, (name, values)) in self.rows.iter().zip(self.values).enumerate() {
            let (x, y) = at(row, 0);
            root.draw(&Text::new(
                short(name),
                (x - 6, y + height / 2),
                names.clone(),
            ))?;
            for (column, value) in values.iter().enumerate() {
                let Some(value) = value.filter(|value| value.is_finite()) else {
                    continue;
                };
                let corners = [at(row, column), at(row + 1, column + 1)];
                root.draw(&Rectangle::new(corners, heat(value).filled()))?;
            }
        }
        let widest = self.columns.iter().map(|name| short(name).chars().count());
        let widest = (LETTER * (widest.max().unwrap_or(0) + 1)) as i32;
        let every = (widest as usize).div_ceil(cell.max(1) as usize).max(1);
        let below = font(HPos::Center, VPos::Top);
        for (column, name) in self.columns.iter().enumerate().step_by(every) {
            let (x, y) = at(self.rows.len(), column);
            root.draw(&Text::new(
                short(name),
                (x + cell / 2, y + 5),
                below.clone(),
            ))?;
        }
        let (_, bottom) = at(self.rows.len(), 0);
        root.draw(&Text::new(self.columns_are, (left, bottom + 30), title))?;
        scale(root, (left, bottom + 50), self.ends)
    }
}

/// What colours stand for.
fn scale(root: &Area<'_>, (x, y): (i32, i32), (low, high): (&str, &str)) -> Drawn {
    let (parts, part) = (20, 4);
    let style = TextStyle::from(FONT.into_font()).color(&BLACK);
    let style = style.pos(Pos::new(HPos::Left, VPos::Center));
    root.draw(&Text::new(low, (x, y + 6), style.clone()))?;
    let start = x + (LETTER * (low.chars().count() + 1)) as i32;
    for i in 0..parts {
        let corners = [(start + part * i, y), (start + part * (i + 1), y + 12)];
        let colour = heat(f64::from(i) / f64::from(parts - 1));
        root.draw(&Rectangle::new(corners, colour.filled()))?;
    }
    root.draw(&Text::new(high, (start + part * parts + 8, y + 6), style))?;
    Ok(())
}

/// A name that fits.
fn short(name: &str) -> String {
    match name.chars().count() > LETTERS {
        true => name.chars().take(LETTERS - 1).chain(['…']).collect(),
        false => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_its_name_and_columns_do_not_overlap() {
        let names = |n: usize, of: &str| (0..n).map(|i| format!("{of}{i}")).collect::<Vec<_>>();
        let (rows, columns) = (names(100, "class "), names(300, "round"));
        let map = HeatMap {
            title: "accuracy",
            columns_are: "round",
            rows: &rows,
            columns: &columns,
            values: &vec![vec![Some(0.5), None, Some(f64::NAN)]; 100],
            ends: ("0 %", "100 %"),
        };
        let text = map.text().unwrap();
        assert!(rows.iter().all(|row| text.contains(row.as_str())));
        // Names of nine letters in columns of three pixels.
        assert!(
            text.contains("round0") && !text.contains("round1\n"),
            "{text}"
        );
        // One cell of each row has a number, and twenty are the scale.
        assert_eq!(text.matches("<rect").count(), 1 + 100 + 20);
        assert!(short(&"x".repeat(40)).ends_with('…'));
    }
}
