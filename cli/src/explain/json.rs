//! The output of `fedround explain --json`.

use std::collections::{BTreeMap, BTreeSet};

use fedround_dsl::all_fields;
use fedround_exec::Program;
use fedround_passes::report::{Direction, Wire, explain as algorithm_box, wire};
use fedround_passes::schedule::runs;
use fedround_passes::tensor::cost;
use serde::Serialize;

use super::compute::place;
use super::phase_marks::{Mark, marks};
use super::privacy;
use super::replays::{Loop, loops};
use super::traffic::nominal_words;
use crate::compilation::Compiled;
use crate::compile_args::ExplainArgs;
use crate::error::CliError;
use crate::hypers::to_toml;

/// An algorithm that is compiled for a model.
#[derive(Serialize)]
pub(super) struct Explained {
    spec: String,
    model: String,
    /// Auxiliary networks beside the model, each with its variant.
    auxiliaries: BTreeMap<String, String>,
    data: String,
    clients: usize,
    /// The words that `parameters` and `bytes` are of, where the vocabulary is known only from files that are
    /// not read; `null` of other data.
    nominal_words: Option<usize>,
    /// By layer and name, as in `fedavg.lr`.
    hyper: BTreeMap<String, toml::Value>,
    /// Those of `hyper` that change nothing.
    not_used: BTreeSet<String>,
    phases: Vec<Phase>,
}

/// A round of a phase.
#[derive(Serialize)]
struct Phase {
    /// `null` of an algorithm with one phase.
    phase: Option<String>,
    first_round: usize,
    /// `null` of the last phase, which has no end.
    last_round: Option<usize>,
    /// The algorithm box.
    algorithm: String,
    parameters: usize,
    /// Clients of a round; `null` where that depends on the round.
    cohort: Option<usize>,
    wire: Vec<Row>,
    /// What noise hides; empty without noise.
    privacy: String,
    segments: Vec<Segment>,
    loops: Vec<Loop>,
}

/// A value that crosses, once for each client of the cohort.
#[derive(Serialize)]
struct Row {
    /// `down`, `up` or `across`.
    direction: &'static str,
    /// Clients that it is sent to or by; `null` where that depends on the round.
    cohort: Option<usize>,
    what: &'static str,
    derived_from: String,
    protected_by: String,
    formula: String,
    /// For each client and round; `null` where it is known only when clients have run.
    bytes: Option<usize>,
}

/// A compute segment.
#[derive(Serialize)]
struct Segment {
    name: String,
    /// `client`, `server` or `server for each client`.
    runs_on: &'static str,
    /// How often a round runs it, for a client with `--examples` examples; `null` in a loop over rows, of which
    /// there may be any number.
    runs_a_round: Option<u64>,
    /// Of one time, like the two below.
    flops: u64,
    bytes_moved: u64,
    peak_bytes: u64,
}

impl Explained {
    pub fn new(
        args: &ExplainArgs,
        compiled: &Compiled,
        not_used: BTreeSet<String>,
    ) -> Result<Self, CliError> {
        let fields = all_fields(&*compiled.algorithm).into_iter();
        let hyper = |field: fedround_dsl::LayerField| {
            let name = format!("{}.{}", field.layer, field.field.name);
            (name, to_toml(&field.value))
        };
        let phases = marks(&compiled.program).into_iter();
        Ok(Self {
            spec: args.subject.spec.clone(),
            model: args.subject.model.clone(),
            auxiliaries: compiled.auxiliaries.clone(),
            data: args.subject.data.clone(),
            clients: args.subject.clients,
            nominal_words: nominal_words(&args.subject),
            hyper: fields.map(hyper).collect(),
            not_used,
            phases: phases
                .map(|(mark, program)| phase(args, mark, program))
                .collect::<Result<_, _>>()?,
        })
    }
}

fn phase(args: &ExplainArgs, mark: Mark, program: &Program) -> Result<Phase, CliError> {
    let (linked, clients) = (program.linked(), args.subject.clients);
    let cohort = program.cohort_size(clients);
    let graphs = program.graphs(program.batch_size())?;
    let segments = graphs.iter().zip(runs(program.schedule())).enumerate();
    Ok(Phase {
        phase: mark.name,
        first_round: mark.first_round,
        last_round: mark.last_round,
        algorithm: algorithm_box(linked),
        parameters: program.parameter_count(),
        cohort,
        wire: wire(linked)
            .iter()
            .map(|value| row(value, program, clients))
            .collect(),
        loops: loops(program),
        privacy: privacy(args, program),
        segments: segments
            .map(|(i, (graph, runs))| {
                let cost = cost(graph);
                Segment {
                    name: program.segment_name(i),
                    runs_on: place(&runs),
                    runs_a_round: match runs.rows {
                        Some(_) => None,
                        None => Some(runs.loops.count(args.examples)),
                    },
                    flops: cost.flops,
                    bytes_moved: cost.read + cost.written,
                    peak_bytes: cost.peak,
                }
            })
            .collect(),
    })
}

fn row(value: &Wire, program: &Program, clients: usize) -> Row {
    Row {
        cohort: value.cohort.and_then(|v| program.cohort(v, clients)),
        direction: match value.direction {
            Direction::Down => "down",
            Direction::Up => "up",
            Direction::Across => "across",
        },
        what: value.noun(),
        derived_from: value.derived.to_string(),
        protected_by: value.protection.to_string(),
        formula: value.formula(),
        bytes: value.bytes(program),
    }
}
