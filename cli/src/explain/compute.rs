//! The section of `explain` on computation: the cost of each compute segment and of a round.

use std::fmt::Write;

use fedround_exec::Program;
use fedround_ir::fed::Op;
use fedround_passes::LoopCount;
use fedround_passes::report::number_format::flops;
use fedround_passes::schedule::{Runs, runs};
use fedround_passes::tensor::{Looped, cost};

use crate::error::CliError;
use crate::terminal::{bytes, grouped};

/// What each segment costs, and what it comes to in a round.
pub(super) fn compute(program: &Program, examples: u64) -> Result<String, CliError> {
    let batch = program.batch_size();
    let graphs = program.graphs(batch)?;
    let mut text = String::new();
    let mut totals = [0.0; 3];
    for (i, (graph, runs)) in graphs.iter().zip(runs(program.schedule())).enumerate() {
        let cost = cost(graph);
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            "  {}, {}, {} a round: {}, {} moved, peak {}",
            program.segment_name(i),
            place(&runs),
            times(&runs),
            flops(cost.flops),
            bytes(cost.read + cost.written),
            bytes(cost.peak),
        );
        let of = usize::from(runs.on_clients) + 2 * usize::from(runs.for_each);
        totals[of] += cost.flops as f64 * runs.loops.full_batches(examples);
    }
    let [server, client, for_each] = totals.map(|total| total.round() as u64);
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

/// `5·⌈n/10⌉×`.
fn times(runs: &Runs) -> String {
    let LoopCount { times, batches } = &runs.loops;
    let batches = batches.iter().map(|size| format!("⌈n/{size}⌉"));
    let mut factors: Vec<String> = batches.collect();
    if *times != 1 || factors.is_empty() {
        factors.insert(0, times.to_string());
    }
    factors.join("·") + "×"
}

#[cfg(test)]
mod tests {
    use fedround_ir::Loc;

    use super::*;

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
