//! `fedround explain`.

use std::fmt::Write;

use fedround_dsl::{Hyper, LayerField, all_fields};
use fedround_exec::{Program, Target};
use fedround_ir::fed::{FedOp, Op, OpKind, Value};
use fedround_passes::report::number_format::flops;
use fedround_passes::report::{
    Count, Direction, Wire, explain as algorithm_box, held, wire, wire_table,
};
use fedround_passes::schedule::{Runs, runs};
use fedround_passes::tensor::{Looped, cost};

use crate::args::ExplainArgs;
use crate::auxiliaries::named;
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::output::{bytes, grouped, print};
use crate::pass_dump::pass_manager;
use crate::privacy::statement;

/// Runs the subcommand.
pub(crate) fn explain(catalog: &Catalog, args: &ExplainArgs) -> Result<(), CliError> {
    let found = args.delta;
    if !(found > 0.0 && found < 1.0) {
        return Err(CliError::Delta { found });
    }
    let mut passes = pass_manager()?;
    let compiled = catalog.compile(&args.subject, Target::default(), &mut passes)?;
    let algorithm = &compiled.algorithm;
    let model = named(&args.subject.model, &compiled.auxiliaries);
    let mut texts = vec![];
    for (phase, program) in compiled.program.phases() {
        let mut text = phase.map_or_else(String::new, |phase| format!("== {phase}\n\n"));
        text += &algorithm_box(program.linked());
        if texts.is_empty() {
            text += "\nHyper-parameters\n";
            text += &hypers(&**algorithm);
        }
        text += &traffic(args, &model, program);
        text += &held_at_once(args, program);
        let cohort = program.cohort_size(args.subject.clients);
        text += &statement(
            program.linked(),
            (args.subject.clients, cohort),
            (args.examples, args.delta),
        );
        text += "\nCompute\n";
        text += &compute(program, args.examples)?;
        text += &loops(&program.looped()?);
        texts.push(text);
    }
    print(&texts.join("\n"))
}

/// The tables of what crosses, one for each phase, for a party that is asked to take part.
pub(crate) fn what_crosses(program: &Program) -> String {
    let mut text = String::new();
    for (phase, program) in program.phases() {
        let parameters = program.parameter_count();
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{}", phase.as_deref().unwrap_or("Wire"));
        text += &indent(&wire_table(&wire(program.linked()), Some(program)));
        let _ = writeln!(
            text,
            "\n  P = {} parameters, 4 bytes each\n",
            grouped(parameters as u64)
        );
    }
    text
}

/// What crosses in a round.
fn traffic(args: &ExplainArgs, model: &str, program: &Program) -> String {
    let rows = wire(program.linked());
    let parameters = program.parameter_count();
    let mut text = "\nWire\n".to_owned();
    text += &indent(&wire_table(&rows, Some(program)));
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        text,
        "\n  P = {} parameters of {} on {}, 4 bytes each",
        grouped(parameters as u64),
        model,
        args.subject.data,
    );
    let reads_public = |op: &Op| matches!(op.kind, OpKind::Fed(FedOp::Public(..)));
    if program.linked().all_ops().any(reads_public) {
        text += "  Public examples are not sent: the server and every client have them (--public-share)\n";
    }
    text += &cohorts(args.subject.clients, &rows, program);
    let across = || rows.iter().filter(|row| row.direction == Direction::Across);
    if across().next().is_some() {
        let sent = Amount::of(across(), program);
        let _ = writeln!(
            text,
            "  a client, a round: {} to other clients",
            sent.text()
        );
    }
    text
}

/// What crosses in a round: of one client and of all, for each cohort.
fn cohorts(clients: usize, rows: &[Wire], program: &Program) -> String {
    let mut all: Vec<Option<Value>> = vec![];
    for row in rows {
        if !all.contains(&row.cohort) {
            all.push(row.cohort);
        }
    }
    if all.is_empty() {
        all.push(None);
    }
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
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "  a client{number}, {one}");
        total = total
            .zip(size)
            .map(|([all_down, all_up], size)| [all_down.plus(down, size), all_up.plus(up, size)]);
    }
    if let Some([down, up]) = total {
        let who = match all.as_slice() {
            [one] => format!("{} of {clients} clients", size(one).unwrap_or_default()),
            _ => "all cohorts".to_owned(),
        };
        let _ = writeln!(
            text,
            "  {who}, a round: {} down, {} up",
            down.text(),
            up.text()
        );
    }
    text
}

/// What the server holds of all clients of a cohort at once; nothing where it adds all of it up.
fn held_at_once(args: &ExplainArgs, program: &Program) -> String {
    let cohort = program.cohort_size(args.subject.clients);
    let lines = held(program.linked()).into_iter().map(|held| {
        let row = &held.row;
        let of_all = row.bytes(program).zip(cohort);
        let of_all = of_all.map(|(each, m)| format!(", {} of {m}", bytes((each * m) as u64)));
        format!(
            "  m · {} bytes of {}{}; gathered at {}\n",
            row.formula(),
            row.noun(),
            of_all.unwrap_or_default(),
            held.loc,
        )
    });
    let lines: String = lines.collect();
    match lines.is_empty() {
        true => lines,
        false => format!("\nHeld at once, of all m clients of a cohort\n{lines}"),
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

/// What each segment costs, and what it comes to in a round.
fn compute(program: &Program, examples: u64) -> Result<String, CliError> {
    let batch = program.batch_size();
    let graphs = program.graphs(batch)?;
    let mut text = String::new();
    let mut totals = [0; 3];
    for (i, (graph, runs)) in graphs.iter().zip(runs(program.schedule())).enumerate() {
        let cost = cost(graph);
        let who = match (runs.on_clients, runs.for_each) {
            (true, _) => "client",
            (false, true) => "server for each client",
            (false, false) => "server",
        };
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            "  {}, {who}, {} a round: {}, {} moved, peak {}",
            program.segment_name(i),
            times(&runs),
            flops(cost.flops),
            bytes(cost.read + cost.written),
            bytes(cost.peak),
        );
        let of = usize::from(runs.on_clients) + 2 * usize::from(runs.for_each);
        totals[of] += cost.flops * runs.count(examples);
    }
    let [server, client, for_each] = totals;
    let sizes = program.batch_sizes();
    let sizes = sizes.iter().map(|size| format!(" {size}"));
    let sizes: Vec<String> = sizes.collect();
    let _ = writeln!(
        text,
        "\n  n: examples of a client, here {}; batches of{}\n  a client, a round: {}",
        grouped(examples),
        match sizes.is_empty() {
            true => " 1".to_owned(),
            false => sizes.join(" and"),
        },
        flops(client),
    );
    if server > 0 {
        let _ = writeln!(
            text,
            "  the server, a round, without means and sums: {}",
            flops(server)
        );
    }
    if for_each > 0 {
        let _ = writeln!(
            text,
            "  the server, a round, for each client: {}",
            flops(for_each)
        );
    }
    Ok(text)
}

/// A line for each op that a group of clients runs one client after another; nothing where there is
/// none.
fn loops(looped: &[(String, Looped)]) -> String {
    let mut lines: Vec<String> = vec![];
    for (segment, op) in looped {
        let line = format!(
            "  {segment}: `tensor.{}` of {} runs once for each client of a group: it has no rule for a client axis\n",
            op.op, op.loc
        );
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    match lines.is_empty() {
        true => String::new(),
        false => "\nClients in one graph\n".to_owned() + &lines.concat(),
    }
}

/// `5·⌈n/10⌉×`.
fn times(runs: &Runs) -> String {
    let batches = runs.batches.iter().map(|size| format!("⌈n/{size}⌉"));
    let mut factors: Vec<String> = batches.collect();
    if runs.times != 1 || factors.is_empty() {
        factors.insert(0, runs.times.to_string());
    }
    factors.join("·") + "×"
}

/// Names, values and docs, the outermost layer's first.
fn hypers(algorithm: &dyn Hyper) -> String {
    let fields = all_fields(algorithm);
    let cell = |f: &LayerField| format!("{}.{} = {}", f.layer, f.field.name, f.value);
    let width = fields
        .iter()
        .map(|f| cell(f).chars().count())
        .max()
        .unwrap_or_default();
    let line = |f| format!("  {:<width$}  {}\n", cell(f), f.field.doc);
    fields.iter().map(line).collect()
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use fedround_ir::Loc;

    use super::*;

    #[test]
    fn an_op_that_loops_has_one_line() {
        assert_eq!(loops(&[]), "");
        let looped = Looped {
            op: "sort",
            loc: Loc::caller(),
        };
        let twice = vec![("step0".to_owned(), looped); 2];
        let text = loops(&twice);
        assert_eq!(text.matches("`tensor.sort`").count(), 1, "{text}");
        assert!(
            text.contains("step0") && text.contains("client axis"),
            "{text}"
        );
    }
}
