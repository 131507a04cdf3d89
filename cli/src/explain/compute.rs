//! The section of `explain` on computation: the cost of each compute segment and of a round.

use fedround_exec::Program;
use fedround_ir::fed::{Op, Value};
use fedround_passes::LoopCount;
use fedround_passes::report::number_format::flops;
use fedround_passes::report::{cohorts, wire};
use fedround_passes::schedule::{Runs, runs};
use fedround_passes::tensor::{Looped, cost};

use super::traffic::in_order;
use crate::error::CliError;
use crate::terminal::{bytes, grouped};

/// What each segment costs, and what it comes to in a round.
pub(super) fn compute(program: &Program, examples: u64) -> Result<String, CliError> {
    let batch = program.batch_size();
    let graphs = program.graphs(batch)?;
    let mut text = String::new();
    let known = cohorts(program.linked());
    let mut totals = Totals::new(in_order(&wire(program.linked())));
    for (i, (graph, runs)) in graphs.iter().zip(runs(program.schedule())).enumerate() {
        let cost = cost(graph);
        text += &format!(
            "  {}, {}, {}: {}, {} moved, peak {}\n",
            program.segment_name(i),
            place(&runs),
            times(&runs),
            flops(cost.flops),
            bytes(cost.read + cost.written),
            bytes(cost.peak),
        );
        let cohort = runs.clients_of.and_then(|v| known.get(&v)).copied();
        totals.add(&runs, cohort, cost.flops, examples);
    }
    let sizes = program.batch_sizes();
    let sizes = sizes.iter().map(|size| format!(" {size}"));
    let sizes: Vec<String> = sizes.collect();
    text += &format!(
        "\n  n: examples of a client, taken as {} (--examples); batches of{}\n",
        grouped(examples),
        match sizes.is_empty() {
            true => " 1".to_owned(),
            false => sizes.join(" and"),
        },
    );
    Ok(text + &totals.text())
}

/// What a round comes to, on each side.
struct Totals {
    /// For a client of each cohort.
    clients: Vec<(Option<Value>, Total)>,
    server: Total,
    /// What the server computes for each client.
    for_each: Total,
}

impl Totals {
    fn new(cohorts: Vec<Option<Value>>) -> Self {
        let cohorts = cohorts.into_iter();
        Self {
            clients: cohorts.map(|cohort| (cohort, Total::default())).collect(),
            server: Total::default(),
            for_each: Total::default(),
        }
    }

    /// Adds a segment, which on clients is of all cohorts if its own is not known.
    fn add(&mut self, runs: &Runs, cohort: Option<Value>, flops: u64, examples: u64) {
        let is_known = self.clients.iter().any(|(of, _)| *of == cohort);
        let on_clients = self.clients.iter_mut();
        let totals: Vec<&mut Total> = match (runs.on_clients, runs.for_each) {
            (true, _) => on_clients
                .filter(|(of, _)| *of == cohort || !is_known)
                .map(|(_, total)| total)
                .collect(),
            (false, true) => vec![&mut self.for_each],
            (false, false) => vec![&mut self.server],
        };
        for total in totals {
            total.add(runs, flops, examples);
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (i, (_, total)) in self.clients.iter().enumerate() {
            let of = match self.clients.len() {
                1 => String::new(),
                _ => format!(" of cohort {}", i + 1),
            };
            text += &format!("  a client{of}, a round: {}\n", total.text());
        }
        for (who, total) in [
            ("without means and sums", &self.server),
            ("for each client", &self.for_each),
        ] {
            if *total != Total::default() {
                text += &format!("  the server, a round, {who}: {}\n", total.text());
            }
        }
        text
    }
}

/// What segments come to in a round.
#[derive(Default, PartialEq)]
struct Total {
    flops: f64,
    /// Whether there are steps over rows, which are not counted: how many rows there are is not known.
    rows: bool,
}

impl Total {
    fn add(&mut self, runs: &Runs, flops: u64, examples: u64) {
        match runs.rows {
            Some(_) => self.rows |= flops > 0,
            None => self.flops += flops as f64 * runs.full_batches(examples),
        }
    }

    fn text(&self) -> String {
        let rows = match self.rows {
            true => ", without the steps over rows",
            false => "",
        };
        format!("{}{rows}", flops(self.flops.round() as u64))
    }
}

/// A line for each op that a group of clients runs one client after another, and for clients that take
/// turns; nothing where there is neither.
pub(super) fn loops(looped: &[(String, Looped)], turns: &[&Op]) -> String {
    let line = |op: &&Op| {
        format!(
            "  {}: clients take turns, because each starts from what the one before it gave\n",
            op.loc
        )
    };
    let mut lines: Vec<String> = turns.iter().map(line).collect();
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

/// Who runs a segment.
pub(super) fn place(runs: &Runs) -> &'static str {
    match (runs.on_clients, runs.for_each) {
        (true, _) => "client",
        (false, true) => "server for each client",
        (false, false) => "server",
    }
}

/// `5·⌈n/10⌉× a round`, or of a loop over rows `5× for each batch of rows`.
fn times(runs: &Runs) -> String {
    let LoopCount { times, batches } = &runs.loops;
    let batches = batches.iter().map(|size| format!("⌈n/{size}⌉"));
    let mut factors: Vec<String> = batches.collect();
    if *times != 1 || factors.is_empty() {
        factors.insert(0, times.to_string());
    }
    let of = match runs.rows {
        Some(_) => "for each batch of rows",
        None => "a round",
    };
    format!("{}× {of}", factors.join("·"))
}

#[cfg(test)]
mod tests {
    use fedround_ir::Loc;

    use super::*;

    #[test]
    fn steps_over_rows_are_not_in_a_total() {
        let mut total = Total::default();
        let once = Runs {
            loops: LoopCount {
                times: 2,
                batches: vec![],
            },
            ..Runs::default()
        };
        assert_eq!(times(&once), "2× a round");
        total.add(&once, 30, 600);
        assert_eq!(total.text(), flops(60));
        let over_rows = Runs {
            rows: Some(8),
            ..once
        };
        assert_eq!(times(&over_rows), "2× for each batch of rows");
        total.add(&over_rows, 30, 600);
        let expected = format!("{}, without the steps over rows", flops(60));
        assert_eq!(total.text(), expected);
    }

    #[test]
    fn an_op_that_loops_has_one_line() {
        assert_eq!(loops(&[], &[]), "");
        let looped = Looped {
            op: "sort",
            loc: Loc::caller(),
        };
        let twice = vec![("step0".to_owned(), looped); 2];
        let text = loops(&twice, &[]);
        assert_eq!(text.matches("`tensor.sort`").count(), 1, "{text}");
        assert!(
            text.contains("step0") && text.contains("client axis"),
            "{text}"
        );
    }
}
