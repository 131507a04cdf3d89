//! Tables: names on the left, numbers on the right.

use std::fmt::Display;

pub(crate) use comfy_table::presets::{
    ASCII_MARKDOWN as MARKDOWN, NOTHING, UTF8_BORDERS_ONLY as BORDERS,
};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width};

/// Columns of a terminal that tables fit in. Wider ones break text between its words. A table whose words
/// and numbers need more is as wide as they are.
const WIDTH: u16 = 80;

/// A cell that begins with a digit and has at most so many characters is a number with its unit or its
/// deviation, which stays on one line.
const NUMBER: usize = 20;

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
    // In Markdown, a bar would end the cell.
    let text = |text: String| match style == MARKDOWN {
        true => text.replace('|', "\\|"),
        false => text,
    };
    let header: Vec<String> = header
        .into_iter()
        .map(|title| text(title.to_string()))
        .collect();
    if !header.is_empty() {
        table.set_header(header);
    }
    for row in rows {
        table.add_row(row.into_iter().map(|cell| text(cell.to_string())));
    }
    for column in table.column_iter_mut().skip(names) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    if style == BORDERS {
        // Otherwise it stays as wide as it is.
        let _ = fit(&mut table, WIDTH);
    }
    table
}

/// Breaks the text of cells between words where a table is wider than a terminal, if that makes it fit.
/// Numbers stay whole, or else are broken before their deviations. Tells whether it does.
fn fit(table: &mut Table, width: u16) -> bool {
    let longest = |text: &str| {
        text.split([' ', '\n'])
            .map(|word| word.chars().count())
            .max()
    };
    let words = |text: &str| longest(text).unwrap_or(0);
    let number = |text: &str| {
        let begins = |first: char| first.is_ascii_digit() || "+-".contains(first);
        text.starts_with(begins) && text.chars().count() <= NUMBER
    };
    let whole = |text: &str| match number(text) {
        true => text.chars().count(),
        false => words(text),
    };
    let broken = |text: &str| match text.split_once('±').filter(|_| number(text)) {
        Some((mean, deviation)) => 1 + mean.chars().count().max(deviation.chars().count()),
        None => whole(text),
    };
    fit_by(table, width, whole) || fit_by(table, width, broken)
}

/// The same, where `least` is the width that a cell needs.
fn fit_by(table: &mut Table, width: u16, least: impl Fn(&str) -> usize) -> bool {
    let mut columns = vec![0; table.column_count()];
    let header = table.header().into_iter();
    for row in header.chain(table.row_iter()) {
        for (column, cell) in columns.iter_mut().zip(row.cell_iter()) {
            // With the spaces around it.
            *column = least(&cell.content()).saturating_add(2).max(*column);
        }
    }
    let between = columns.len().saturating_sub(1);
    if columns.iter().sum::<usize>() + between + 2 > usize::from(width) {
        return false;
    }
    for (column, least) in table.column_iter_mut().zip(columns) {
        let least = u16::try_from(least).unwrap_or(width);
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
    }
    table
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width);
    true
}

/// Columns without a frame, two spaces apart and two spaces in, which fit a terminal.
pub(crate) fn columns<T: Display, const N: usize>(rows: impl Iterator<Item = [T; N]>) -> String {
    columns_in(2, rows)
}

/// The same, so many spaces in.
pub(crate) fn columns_in<T: Display, const N: usize>(
    indent: u16,
    rows: impl Iterator<Item = [T; N]>,
) -> String {
    const BETWEEN: u16 = 2;
    let mut table = table(NOTHING, [""; 0], N, rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, BETWEEN));
    }
    // What is between columns follows the last one, too, where it is no text.
    let width = WIDTH - indent + BETWEEN;
    if !fit(&mut table, width) {
        // An address may be longer than a line.
        table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(width);
    }
    let margin = " ".repeat(usize::from(indent));
    let lines = table
        .lines()
        .map(|line| format!("{margin}{}\n", line.trim_end()));
    lines.collect()
}

/// A header and rows of numbers without a frame, aligned to the right but for the last `names` columns. If
/// there are such columns, it fits a terminal.
pub(crate) fn numbers(header: Vec<String>, rows: Vec<Vec<String>>, names: usize) -> String {
    const BETWEEN: u16 = 2;
    let all = [vec![header], rows].concat();
    let mut table = table(NOTHING, [""; 0], 0, all);
    let count = table.column_count() - names;
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, BETWEEN));
        if i >= count {
            column.set_cell_alignment(CellAlignment::Left);
        }
    }
    if names > 0 {
        let _ = fit(&mut table, WIDTH + BETWEEN);
    }
    table
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

/// Whether all lines of a text fit a terminal.
pub(crate) fn is_narrow(text: &str) -> bool {
    text.lines()
        .all(|line| line.chars().count() <= usize::from(WIDTH))
}

/// A text whose lines fit a terminal. Longer ones go on further in than they began. A word that is longer
/// than a line, such as a path, stays whole.
pub(crate) fn wrapped(text: &str) -> String {
    const HANGING: usize = 4;
    let mut wrapped = String::new();
    for line in text.split_inclusive('\n') {
        if is_narrow(line) {
            wrapped += line;
            continue;
        }
        let words = line.trim_start();
        let indent = " ".repeat(line.len() - words.len());
        let mut column = 0;
        for word in words.trim_end().split(' ') {
            let length = word.chars().count();
            if column > 0 && column + 1 + length <= usize::from(WIDTH) {
                wrapped.push(' ');
                column += 1;
            } else if column > 0 {
                wrapped += "\n";
                wrapped += &indent;
                wrapped += &" ".repeat(HANGING);
                column = indent.len() + HANGING;
            } else {
                wrapped += &indent;
                column = indent.len();
            }
            wrapped += word;
            column += length;
        }
        if line.ends_with('\n') {
            wrapped.push('\n');
        }
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_for_a_terminal_fit_it() {
        let long = "fedavgm(fedprox) lr=0.01 mu=0.001 momentum=0.9";
        let row = [long, "91.23 ± 0.51 %", "92.00 ± 0.10 %", "90.10 ± 1.20 %"];
        let header = ["algorithm", "test accuracy", "best", "local accuracy"];
        let table = |style| table(style, header, 1, [row]).to_string();
        let width = |text: String| text.lines().map(|l| l.chars().count()).max();
        assert!(width(table(BORDERS)) <= Some(usize::from(WIDTH)));
        // A table of too many numbers is wide, and can be read.
        let numbers = super::table(BORDERS, [""; 0], 1, [["+11 to 13"; 12]]).to_string();
        assert!(numbers.contains("+11 to 13   +11 to 13"), "{numbers}");
        // Text that begins with a number is text.
        let best = format!("16.9 %, at best {}", "12.0 % in round 2 ".repeat(6));
        let table_of_run = super::table(BORDERS, [""; 0], 2, [["test accuracy", &best]]);
        assert!(is_narrow(&table_of_run.to_string()), "{table_of_run}");
        let wide = [
            "fedavg",
            "100.00 ± 0.12 %",
            "clients' own models",
            "9.00 ± 0.12 %",
        ];
        let wide = [wide[0], wide[1], wide[2], wide[3], wide[1], wide[1]];
        let deviations = super::table(BORDERS, [""; 0], 1, [wide]).to_string();
        assert!(
            is_narrow(&deviations) && deviations.contains("100.00 ± "),
            "{deviations}"
        );
        // Files are not for terminals: Markdown has a row in one line.
        assert_eq!(table(MARKDOWN).lines().count(), 3);
        let barred = |style| super::table(style, ["a|b"], 1, [["c|d"]]).to_string();
        assert_eq!(barred(MARKDOWN), "| a\\|b |\n|------|\n| c\\|d |");
        assert!(barred(BORDERS).contains("c|d"));
        let text = columns_in(4, [["name", &"word ".repeat(40)]].into_iter());
        assert!(width(text.clone()) <= Some(usize::from(WIDTH)));
        assert!(text.starts_with("    name  word word"), "{text}");
    }

    #[test]
    fn long_lines_go_on_further_in() {
        let line = format!("  begin {}\nshort  line\n", "word ".repeat(30));
        let text = wrapped(&line);
        assert!(is_narrow(&text), "{text}");
        assert!(
            text.starts_with("  begin word") && text.contains("\n      word word"),
            "{text}"
        );
        assert!(text.ends_with("\nshort  line\n"), "{text}");
        assert_eq!(
            text.split_whitespace().count(),
            line.split_whitespace().count()
        );
        let path = "/long".repeat(30);
        assert_eq!(wrapped(&path), path);
    }
}
