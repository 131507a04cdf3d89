//! Layouts of tables: one that fits a terminal, and titles above tables.

use comfy_table::Table;

use crate::terminal::table::{BORDERS, MARKDOWN, is_narrow, wrapped};

/// What `draw` gives in the first of these layouts that fits a terminal, or else in the last one. Markdown has
/// the layout that fits a terminal, too, so that both forms of a table show the same.
pub(super) fn first_narrow<L: Copy, const N: usize>(
    layouts: [L; N],
    style: &str,
    draw: impl Fn(L, &str) -> Vec<String>,
) -> Vec<String> {
    let fits = |layout: &L| draw(*layout, BORDERS).iter().all(|text| is_narrow(text));
    let chosen = layouts.iter().find(|layout| fits(layout));
    chosen
        .or(layouts.last())
        .map_or_else(Vec::new, |layout| draw(*layout, style))
}

/// A table with a title above it, if it has one.
pub(super) fn titled(style: &str, title: Option<String>, table: &Table) -> String {
    match title {
        None => table.to_string(),
        Some(title) if style == MARKDOWN => format!("**{title}**\n\n{table}"),
        Some(title) => format!("{}{table}", wrapped(&format!("{title}\n"))),
    }
}
