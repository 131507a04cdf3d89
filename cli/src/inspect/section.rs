//! A part of the report of `fedround inspect`.

use crate::terminal::table::{BORDERS, table};

/// A table's text; nothing without rows.
pub(super) fn section<R: IntoIterator<Item = String>>(
    heads: &[&str],
    rows: impl Iterator<Item = R>,
) -> String {
    let mut rows = rows.peekable();
    match rows.peek() {
        Some(_) => format!("{}\n", table(BORDERS, heads, heads.len(), rows)),
        None => String::new(),
    }
}
