//! The wire table: what crosses between server and clients in a round.

use std::fmt::{self, Write};

use fedround_ir::Loc;
use fedround_ir::fed::{Kind, Module, Value};

use super::wire_origin::rows;

/// Which way a value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Server to clients.
    Down,
    /// Clients to server.
    Up,
}

/// What keeps a value from telling about single examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Nothing.
    None,
}

/// One value that crosses for each client in each round.
#[derive(Clone, Debug)]
pub struct Wire {
    /// What crosses: a broadcast's result, or the clients' value that a reduction reads.
    pub value: Value,
    /// The op that sends it, such as `fed.broadcast`.
    pub op: String,
    /// Which way.
    pub direction: Direction,
    /// [`Kind::Params`] or [`Kind::Scalar`].
    pub kind: Kind,
    /// What it is and from what it is derived.
    pub derived: String,
    /// By what it is protected.
    pub protection: Protection,
    /// Where the spec sends it.
    pub loc: Loc,
}

impl Wire {
    /// Bytes per client and round for a model of so many parameters, as `f32`.
    pub fn bytes(&self, parameters: usize) -> usize {
        if self.kind == Kind::Params {
            4 * parameters
        } else {
            4
        }
    }

    /// [`Wire::bytes`] as a formula in `P`, the number of parameters.
    pub fn formula(&self) -> &'static str {
        if self.kind == Kind::Params { "4P" } else { "4" }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Down => "server → client",
            Self::Up => "client → server",
        })
    }
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
        }
    }
}

/// Lists what crosses, in program order, from a linked module. A client's value that several
/// reductions read crosses once.
pub fn wire(module: &Module) -> Vec<Wire> {
    rows(module)
}

/// The table as text, with its totals.
pub fn wire_table(rows: &[Wire]) -> String {
    let header = [
        "direction",
        "what",
        "kind",
        "protected by",
        "bytes per client and round",
    ]
    .map(str::to_owned);
    let mut table = vec![header];
    for row in rows {
        table.push([
            row.direction.to_string(),
            row.derived.clone(),
            row.kind.to_string(),
            row.protection.to_string(),
            row.formula().to_owned(),
        ]);
    }
    let widths: Vec<usize> = (0..5)
        .map(|column| {
            table
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
        })
        .map(Option::unwrap_or_default)
        .collect();
    let mut text = String::new();
    for row in &table {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let _ = writeln!(
        text,
        "total down: {}, up: {}",
        total(rows, Direction::Down),
        total(rows, Direction::Up)
    );
    text
}

/// The sum of one direction as a formula, such as `4P + 4`.
fn total(rows: &[Wire], direction: Direction) -> String {
    let of = |kind| {
        4 * rows
            .iter()
            .filter(|row| row.direction == direction && row.kind == kind)
            .count()
    };
    match (of(Kind::Params), of(Kind::Scalar)) {
        (0, scalars) => format!("{scalars} bytes"),
        (params, 0) => format!("{params}P bytes"),
        (params, scalars) => format!("{params}P + {scalars} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::link;
    use super::super::testing::{Closure, FedAvg, FedProx, control_variates};
    use super::*;

    #[test]
    fn fed_prox_sends_parameters_and_counts() {
        let staged = fedround::stage(&FedProx {
            base: FedAvg::default(),
            mu: 0.1,
        })
        .unwrap();
        let rows = wire(&link(staged).unwrap().module);
        assert_eq!(
            wire_table(&rows),
            "\
direction        what                               kind    protected by  bytes per client and round
server → client  global parameters                  params  none          4P
client → server  parameters, trained on local data  params  none          4P
client → server  count of examples                  f32     none          4
total down: 4P bytes, up: 4P + 4 bytes
"
        );
        assert_eq!(rows.iter().map(|row| row.bytes(10)).sum::<usize>(), 84);
    }

    #[test]
    fn states_are_named() {
        let staged = fedround::stage(&Closure(control_variates)).unwrap();
        let rows = wire(&link(staged).unwrap().module);
        let derived: Vec<&str> = rows.iter().map(|row| row.derived.as_str()).collect();
        let up = "parameters, trained on local data and kept client state";
        assert_eq!(derived, ["global parameters", "server state", up, up]);
    }

    #[test]
    fn a_value_that_is_reduced_twice_crosses_once() {
        let twice = |m: &mut fedround::Definer| {
            m.round(|server, w| {
                let w_k = w.broadcast(&server.everyone()).map(|_, w| 2.0 * w);
                w_k.mean() + w_k.sum()
            });
        };
        let rows = wire(
            &link(fedround::stage(&Closure(twice)).unwrap())
                .unwrap()
                .module,
        );
        let derived: Vec<&str> = rows.iter().map(|row| row.derived.as_str()).collect();
        assert_eq!(derived, ["global parameters", "parameters, as received"]);
    }
}
