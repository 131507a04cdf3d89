//! The section of `explain` on communication: the values that cross between server and clients in a round,
//! and those that the server holds for a whole cohort.

use fedround_data::DatasetInfo;
use fedround_exec::Program;
use fedround_ir::fed::{FedOp, Op, OpKind, Value};
use fedround_passes::report::{
    Count, Direction, Wire, gathered_values, wire, wire_cells, wire_totals,
};

use crate::compile::args::{ExplainArgs, Subject};
use crate::terminal::table::{columns, wrapped};
use crate::terminal::{bytes, grouped};

/// The tables of what crosses, one for each phase, for a party that is asked to take part.
#[cfg(feature = "flower")]
pub(crate) fn what_crosses(program: &Program) -> String {
    let mut text = String::new();
    for (phase, program) in program.phases() {
        let parameters = program.parameter_count();
        text += &format!("{}\n", phase.as_deref().unwrap_or("Wire"));
        text += &wire_text(&wire(program.linked()), program);
        text += &format!(
            "\n  P = {} parameters, 4 bytes each\n\n",
            grouped(parameters as u64)
        );
    }
    text
}

/// The wire table, which fits a terminal.
fn wire_text(rows: &[Wire], program: &Program) -> String {
    let totals = wire_totals(rows);
    let totals: String = totals.lines().map(|line| format!("  {line}\n")).collect();
    columns(wire_cells(rows, Some(program)).into_iter()) + &wrapped(&totals)
}

/// What crosses in a round.
pub(super) fn traffic(args: &ExplainArgs, model: &str, program: &Program) -> String {
    let rows = wire(program.linked());
    let parameters = program.parameter_count();
    let mut text = "\nWire\n".to_owned();
    text += &wire_text(&rows, program);
    text += &format!(
        "\n  P = {} parameters of {} on {}, 4 bytes each\n",
        grouped(parameters as u64),
        model,
        args.subject.data,
    );
    if let Some(words) = nominal_words(&args.subject) {
        text += &format!(
            "  P is of {} words; the data's own vocabulary is known from its files only\n",
            grouped(words as u64)
        );
    }
    let reads_public = |op: &Op| matches!(op.kind, OpKind::Fed(FedOp::Public(..)));
    if program.linked().all_ops().any(reads_public) {
        text += "  Public examples are not sent: the server and every client have them (--public-share)\n";
    }
    if !turns(program).is_empty() {
        text +=
            "  Clients take turns: a client's exchanges come after those of the one before it\n";
    }
    text += &cohorts(args.subject.clients, &rows, program);
    let across = || rows.iter().filter(|row| row.direction == Direction::Across);
    if across().next().is_some() {
        let sent = Amount::of(across(), program);
        text += &format!("  a client, a round: {} to other clients\n", sent.text());
    }
    text
}

/// The size of the vocabulary for which a program is compiled while the files of bundled texts are not read;
/// `None` of other data.
pub(super) fn nominal_words(subject: &Subject) -> Option<usize> {
    DatasetInfo::find(&subject.data).ok()?.words
}

/// Where clients take turns.
pub(super) fn turns(program: &Program) -> Vec<&Op> {
    let ops = program.linked().all_ops();
    ops.filter(|op| op.kind == OpKind::Fed(FedOp::InTurn))
        .collect()
}

/// The cohorts of a wire table, in the order in which their numbers are shown; one where nothing crosses.
pub(super) fn in_order(rows: &[Wire]) -> Vec<Option<Value>> {
    let mut all: Vec<Option<Value>> = vec![];
    for row in rows {
        if !all.contains(&row.cohort) {
            all.push(row.cohort);
        }
    }
    if all.is_empty() {
        all.push(None);
    }
    all
}

/// What crosses in a round: of one client and of all, for each cohort.
fn cohorts(clients: usize, rows: &[Wire], program: &Program) -> String {
    let all = in_order(rows);
    let of = |cohort: Option<Value>, direction| {
        let rows = rows.iter();
        let rows = rows.filter(move |row| row.cohort == cohort && row.direction == direction);
        Amount::of(rows, program)
    };
    let size = |cohort: &Option<Value>| cohort.and_then(|v| program.cohort(v, clients));
    let (mut text, mut total) = (String::new(), Some([Amount::default(), Amount::default()]));
    for (i, cohort) in all.iter().enumerate() {
        let [down, up] = [Direction::Down, Direction::Up].map(|way| of(*cohort, way));
        let one = format!("a round: {} down, {} up", down.text(), up.text());
        let size = size(cohort);
        let of = size.map(|size| format!(", one of {size}"));
        let of = of.filter(|_| all.len() > 1).unwrap_or_default();
        let number = match all.len() {
            1 => String::new(),
            _ => format!(" of cohort {}{of}", i + 1),
        };
        text += &format!("  a client{number}, {one}\n");
        total = total
            .zip(size)
            .map(|([all_down, all_up], size)| [all_down.plus(down, size), all_up.plus(up, size)]);
    }
    if let Some([down, up]) = total {
        let who = match all.as_slice() {
            [one] => format!("{} of {clients} clients", size(one).unwrap_or_default()),
            _ => "all cohorts".to_owned(),
        };
        text += &format!("  {who}, a round: {} down, {} up\n", down.text(), up.text());
    }
    text
}

/// What the server holds of all clients of a cohort at once, or of the one that takes its turn; nothing where it
/// adds all of it up.
pub(super) fn held_at_once(args: &ExplainArgs, program: &Program) -> String {
    let size = |row: &Wire| program.cohort(row.cohort?, args.subject.clients);
    let all = gathered_values(program.linked());
    let lines = all.iter().map(|held| {
        let row = &held.row;
        let of_all = row.bytes(program).zip(size(row));
        let of_all = of_all.map(|(each, m)| format!(", {} of {m}", bytes((each * m) as u64)));
        let (m, of) = match held.in_turn {
            true => ("", " of the client whose turn it is".to_owned()),
            false => ("m · ", of_all.unwrap_or_default()),
        };
        format!(
            "  {m}{} bytes of {}{of}; gathered at {}\n",
            row.formula(),
            row.noun(),
            held.loc,
        )
    });
    let lines: String = lines.collect();
    let of_all = match all.iter().any(|held| !held.in_turn) {
        true => ", of all m clients of a cohort",
        false => "",
    };
    match lines.is_empty() {
        true => lines,
        false => format!("\nHeld at once{of_all}\n{lines}"),
    }
}

/// What crosses one way: the bytes that are known before clients have run, and the formulas of the
/// rest.
#[derive(Default)]
struct Amount {
    known: u64,
    unknown: Vec<String>,
}

impl Amount {
    fn of<'a>(rows: impl Iterator<Item = &'a Wire>, parameters: Count<'_>) -> Self {
        let mut this = Self::default();
        for row in rows {
            match row.bytes(parameters) {
                Some(bytes) => this.known += bytes as u64,
                None => this.unknown.push(row.formula()),
            }
        }
        this
    }

    /// This and what so many clients send.
    fn plus(mut self, one: Self, clients: usize) -> Self {
        self.known += clients as u64 * one.known;
        let unknown = one.unknown.into_iter();
        self.unknown.extend(unknown.map(|formula| match clients {
            1 => formula,
            _ => format!("{clients}·{formula}"),
        }));
        self
    }

    fn text(&self) -> String {
        let known = bytes(self.known);
        let known = (self.known > 0 || self.unknown.is_empty()).then_some(known);
        let terms: Vec<String> = known.into_iter().chain(self.unknown.clone()).collect();
        terms.join(" + ")
    }
}
