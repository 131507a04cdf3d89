//! The wire table as text.

use std::collections::BTreeMap;
use std::fmt::Write;

use fedround_ir::fed::Kind;

use super::{Count, Direction, Wire};

/// The table's header and rows. If `parameters` is given, formulas are also shown as numbers.
pub fn wire_cells(rows: &[Wire], parameters: Option<Count<'_>>) -> Vec<[String; 5]> {
    let header = [
        "direction",
        "what",
        "derived from",
        "protected by",
        "bytes per client and round",
    ];
    let rows = rows.iter().map(|row| {
        let number = parameters.and_then(|parameters| row.bytes(parameters));
        [
            row.direction.to_string(),
            row.noun().to_owned(),
            row.derived.to_string(),
            row.protection.to_string(),
            equals(&row.formula(), number),
        ]
    });
    [header.map(str::to_owned)]
        .into_iter()
        .chain(rows)
        .collect()
}

/// The table as text, with totals. If `parameters` is given, formulas are also shown as numbers.
pub fn wire_table(rows: &[Wire], parameters: Option<Count<'_>>) -> String {
    let table = wire_cells(rows, parameters);
    let width = |column: usize| {
        let cells = table.iter().filter_map(|row| row.get(column));
        let widths = cells.map(|cell| cell.chars().count());
        widths.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..5).map(width).collect();
    let mut text = String::new();
    for row in &table {
        let cells = row.iter().zip(&widths);
        let cells = cells.map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text + &wire_totals(rows)
}

/// The lines below the table: what crosses in all, and in how many exchanges.
pub fn wire_totals(rows: &[Wire]) -> String {
    let mut text = String::new();
    let [down, up] = [Direction::Down, Direction::Up].map(|way| total(rows, way));
    // Writing to a `String` cannot fail.
    let _ = write!(text, "total down: {down}, up: {up}");
    if rows.iter().any(|row| row.peers.is_some()) {
        let _ = write!(
            text,
            ", to other clients: {}",
            total(rows, Direction::Across)
        );
    }
    text.push('\n');
    let exchanges = rows.iter().map(|row| row.exchange).max().unwrap_or(1);
    if exchanges > 1 {
        let _ = writeln!(text, "exchanges: {exchanges} a round, one after the other");
    }
    text
}

/// `4P = 796040`; the formula alone where it is the number, or there is none.
fn equals(formula: &str, number: Option<usize>) -> String {
    match number {
        Some(number) if number > 0 && formula != number.to_string() => {
            format!("{formula} = {number}")
        }
        _ => formula.to_owned(),
    }
}

/// The sum of one direction as a formula, such as `4P + 4 bytes`.
fn total(rows: &[Wire], direction: Direction) -> String {
    let rows = rows
        .iter()
        .filter(|row| row.direction == direction && !row.is_known());
    let order = |kind| match kind {
        Kind::Params => 0,
        Kind::Tensor => 1,
        Kind::Labels => 2,
        _ => 3,
    };
    let mut terms: BTreeMap<(usize, String), u64> = BTreeMap::new();
    for row in rows {
        let (symbol, bytes) = match &row.encoded {
            Some(encoded) => (format!("·{}", encoded.formula), 1),
            None => (row.symbol(), 4),
        };
        *terms.entry((order(row.kind), symbol)).or_default() += bytes * row.times;
    }
    let terms = terms.into_iter().map(|((_, of), count)| match count {
        1 => of.trim_start_matches('·').to_owned(),
        _ => format!("{count}{of}"),
    });
    let terms: Vec<String> = terms.collect();
    if terms.is_empty() {
        "0 bytes".to_owned()
    } else {
        format!("{} bytes", terms.join(" + "))
    }
}
