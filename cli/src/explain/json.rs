//! The output of `fedround explain --json`, whose keys docs/json.md describes.

use std::collections::{BTreeMap, BTreeSet};

use fedround_dsl::all_fields;
use fedround_exec::Program;
use fedround_passes::report::{Direction, Wire, explain as algorithm_box, wire};
use fedround_passes::schedule::runs;
use fedround_passes::tensor::cost;
use serde_json::{Value, json};

use super::compute::place;
use super::phase_marks::{Mark, marks};
use super::privacy;
use super::replays::loops;
use super::traffic::nominal_words;
use crate::compile::args::ExplainArgs;
use crate::compile::compilation::Compiled;
use crate::error::CliError;
use crate::settings::dead_hypers::full_name;
use crate::settings::hypers::to_toml;

/// An algorithm that is compiled for a model. `not_used` are its hyper-parameters that change nothing.
pub(super) fn explained(
    args: &ExplainArgs,
    compiled: &Compiled,
    not_used: &BTreeSet<String>,
) -> Result<Value, CliError> {
    let fields = all_fields(&*compiled.algorithm).into_iter();
    let hyper = fields.map(|field| (full_name(&field), to_toml(&field.value)));
    let phases = marks(&compiled.program).into_iter();
    let phases = phases.map(|(mark, program)| phase(args, &mark, program));
    let phases: Vec<Value> = phases.collect::<Result<_, _>>()?;
    Ok(json!({
        "spec": args.subject.spec,
        "model": args.subject.model,
        "auxiliaries": compiled.auxiliaries,
        "data": args.subject.data,
        "clients": args.subject.clients,
        "nominal_words": nominal_words(&args.subject),
        "hyper": hyper.collect::<BTreeMap<_, _>>(),
        "not_used": not_used,
        "phases": phases,
    }))
}

/// A round of a phase.
fn phase(args: &ExplainArgs, mark: &Mark, program: &Program) -> Result<Value, CliError> {
    let (linked, clients) = (program.linked(), args.subject.clients);
    let wire = wire(linked);
    let rows = wire.iter().map(|value| row(value, program, clients));
    let graphs = program.graphs(program.batch_size())?;
    let segments = graphs.iter().zip(runs(program.schedule())).enumerate();
    let segments = segments.map(|(i, (graph, runs))| {
        let cost = cost(graph);
        // In a loop over rows there may be any number of them.
        let times = runs.rows.is_none().then(|| runs.loops.count(args.examples));
        json!({
            "name": program.segment_name(i),
            "runs_on": place(&runs),
            "runs_a_round": times,
            "flops": cost.flops,
            "bytes_moved": cost.read + cost.written,
            "peak_bytes": cost.peak,
        })
    });
    Ok(json!({
        "phase": mark.name,
        "first_round": mark.first_round,
        "last_round": mark.last_round,
        "algorithm": algorithm_box(linked),
        "parameters": program.parameter_count(),
        "cohort": program.cohort_size(clients),
        "wire": rows.collect::<Vec<_>>(),
        "privacy": privacy(args, program),
        "segments": segments.collect::<Vec<_>>(),
        "loops": loops(program),
    }))
}

/// A value that crosses, once for each client of the cohort.
fn row(value: &Wire, program: &Program, clients: usize) -> Value {
    let direction = match value.direction {
        Direction::Down => "down",
        Direction::Up => "up",
        Direction::Across => "across",
    };
    json!({
        "direction": direction,
        "cohort": value.cohort.and_then(|v| program.cohort(v, clients)),
        "what": value.noun(),
        "derived_from": value.derived.to_string(),
        "protected_by": value.protection.to_string(),
        "formula": value.formula(),
        "bytes": value.bytes(program),
    })
}
