//! The frame of a page: its head, its style, and parts that every page has.

use comfy_table::{Cell, Row, Table};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");

/// A page with a title, a line below it, and sections.
pub(super) fn page(title: &str, about: &str, sections: Vec<Markup>) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (title) }
                    p { (about) }
                }
                main { @for section in &sections { (section) } }
                footer { p { "fedround " (env!("CARGO_PKG_VERSION")) } }
            }
        }
    }
}

/// A section with a heading.
pub(super) fn section(title: &str, body: Markup) -> Markup {
    html! { section { h2 { (title) } (body) } }
}

/// The most important numbers, large.
pub(super) fn facts(facts: &[(String, String)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in facts { div { dt { (name) } dd { (value) } } }
        }
    }
}

/// A table with a header; columns after the first are numbers.
pub(super) fn table(header: &[&str], rows: &[Vec<String>]) -> Markup {
    html! {
        div.wide { table {
            thead { tr { @for title in header { th { (title) } } } }
            tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
        } }
    }
}

/// A table of the command's own.
pub(super) fn of_table(own: &Table) -> Markup {
    let texts = |row: &Row| row.cell_iter().map(Cell::content).collect::<Vec<String>>();
    let header = own.header().map(texts).unwrap_or_default();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    table(&header, &own.row_iter().map(texts).collect::<Vec<_>>())
}

/// Text as it is, in a box that scrolls.
pub(super) fn code(text: &str) -> Markup {
    html! { pre { code { (text.trim_end()) } } }
}

/// What can be unfolded.
pub(super) fn fold(title: &str, open: bool, body: &Markup) -> Markup {
    html! { details open[open] { summary { (title) } (body) } }
}

/// Why something is not in the page.
pub(super) fn missing(why: &str) -> Markup {
    html! { p.missing { (why) } }
}
