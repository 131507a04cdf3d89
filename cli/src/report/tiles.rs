//! Fractions as coloured cells with their numbers.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::charts::Group;
use crate::plot::heat;
use crate::terminal::percent;

/// How a cell of a value looks: dark text on light colours.
fn style(value: f64) -> String {
    let colour = heat(value);
    let ink = if value > 0.55 { "#111" } else { "#fff" };
    format!(
        "background:rgb({},{},{});color:{ink}",
        colour.0, colour.1, colour.2
    )
}

/// A cell for each client, by its number, with its loss where that is known.
pub(super) fn clients(accuracies: &[Option<f64>], losses: &BTreeMap<usize, f64>) -> Markup {
    let known = accuracies.iter().enumerate();
    let known = known.filter_map(|(client, accuracy)| Some((client, (*accuracy)?)));
    html! {
        div.tiles {
            @for (client, accuracy) in known {
                div style=(style(accuracy)) {
                    (format!("{:.0} %", 100.0 * accuracy))
                    @if let Some(loss) = losses.get(&client) { small { (format!("{loss:.3}")) } }
                    small { "client " (client) }
                }
            }
        }
    }
}

/// A table of fractions, by row and then by group.
pub(super) fn table(corner: &str, groups: &[Group], rows: &[(String, Vec<Option<f64>>)]) -> Markup {
    html! {
        div.wide.scroll { table.heat {
            thead { tr { th { (corner) } @for group in groups { th { (group.name) } } } }
            tbody {
                @for (name, values) in rows {
                    tr {
                        td { (name) }
                        @for value in values {
                            @match value {
                                Some(value) => td style=(style(*value)) { (percent(*value)) },
                                None => td { "-" },
                            }
                        }
                    }
                }
            }
        } }
    }
}
