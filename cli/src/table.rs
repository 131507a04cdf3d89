//! Tables: names on the left, numbers on the right.

use std::fmt::Display;

pub(crate) use comfy_table::presets::{
    ASCII_MARKDOWN as MARKDOWN, NOTHING, UTF8_BORDERS_ONLY as BORDERS,
};
use comfy_table::{CellAlignment, ContentArrangement, Table};

/// Columns of a terminal that tables fit in. Wider ones break the text of their cells.
const WIDTH: u16 = 80;

/// A table in one of the styles above. Columns after the first `names` are aligned to the right.
pub(crate) fn table<R>(
    style: &str,
    header: impl IntoIterator<Item = impl Display>,
    names: usize,
    rows: impl IntoIterator<Item = R>,
) -> Table
where
    R: IntoIterator,
    R::Item: Display,
{
    let mut table = Table::new();
    table.load_preset(style);
    if style == BORDERS {
        table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(WIDTH);
    }
    let header: Vec<String> = header.into_iter().map(|title| title.to_string()).collect();
    if !header.is_empty() {
        table.set_header(header);
    }
    for row in rows {
        table.add_row(row.into_iter().map(|cell| cell.to_string()));
    }
    for column in table.column_iter_mut().skip(names) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Columns without a frame, two spaces apart and two spaces in.
pub(crate) fn columns<T: Display, const N: usize>(rows: impl Iterator<Item = [T; N]>) -> String {
    let mut table = table(NOTHING, [""; 0], N, rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines = table.lines().map(|line| format!("  {}\n", line.trim_end()));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_for_a_terminal_fit_it() {
        let long = "fedavgm(fedprox(scaffold)) lr=0.01 mu=0.001";
        let row = [long, "91.23 ± 0.51 %", "92.00 ± 0.10 %", "90.10 ± 1.20 %"];
        let header = ["algorithm", "test accuracy", "best", "local accuracy"];
        let table = |style| table(style, header, 1, [row]).to_string();
        let width = |text: String| text.lines().map(|l| l.chars().count()).max();
        assert!(width(table(BORDERS)) <= Some(usize::from(WIDTH)));
        // Files are not for terminals: Markdown has a row in one line.
        assert_eq!(table(MARKDOWN).lines().count(), 3);
    }
}
