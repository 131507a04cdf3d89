//! The text of an algorithm at any stage of the compiler, and its comparison with a snapshot.

use std::collections::BTreeMap;

use fedround_dsl::Algorithm;
use fedround_exec::{Precision, Program, Target};
use fedround_ir::fed::print;
use fedround_models::{AuxiliaryTask, Losses, Task};
use fedround_passes::report::cost_table;
use fedround_passes::report::{explain, wire, wire_table};
use fedround_passes::tensor::cost;
use fedround_trace::TracedModel;

pub use crate::model_source::GraphError;
use crate::model_source::ModelSource;

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The spec as it was written: hooks, calls and regions.
    Fed,
    /// Hooks bound and simplified: one round, from parameters to parameters.
    Linked,
    /// What runs at the parties of a federation, and what they send and keep.
    Parties,
    /// Each compute region as a graph of tensor ops, for a batch size.
    Tensor,
    /// The same with its slots: what the executor walks.
    Plan,
    /// FLOPs, bytes moved and bytes alive of each tensor op.
    Costs,
    /// The algorithm box, read off the linked graph.
    Box,
    /// What crosses between server and clients.
    Wire,
}

/// A stage, and what the spec is compiled for: the 2NN on 28x28 grey images of ten classes and the
/// spec's own batch size, unless it is told otherwise. A [`Stage`] alone is a view too.
#[derive(Clone)]
pub struct View {
    stage: Stage,
    model: ModelSource,
    task: Task,
    batch: Option<usize>,
    precision: Precision,
    clients: usize,
    columns: Vec<(String, Vec<usize>)>,
    losses: Losses,
}

impl From<Stage> for View {
    fn from(stage: Stage) -> Self {
        Self::of(stage)
    }
}

impl View {
    /// A stage of the 2NN.
    pub fn of(stage: Stage) -> Self {
        Self {
            stage,
            model: "2nn".into(),
            task: Task {
                input: [1, 28, 28],
                classes: 10,
            },
            batch: None,
            precision: Precision::F32,
            clients: 10,
            columns: vec![],
            losses: Losses::default(),
        }
    }

    /// For data with another column besides inputs and labels: its name and the shape of an example.
    #[must_use]
    pub fn column(mut self, name: &str, shape: &[usize]) -> Self {
        self.columns.push((name.to_owned(), shape.to_vec()));
        self
    }

    /// For another model: a bundled one by name, or a [`ModelSource`].
    #[must_use]
    pub fn model(mut self, model: impl Into<ModelSource>) -> Self {
        self.model = model.into();
        self
    }

    /// For inputs of another shape, or another number of classes.
    #[must_use]
    pub fn task(mut self, task: Task) -> Self {
        self.task = task;
        self
    }

    /// For another batch size than the spec's; it shows in tensor graphs alone.
    #[must_use]
    pub fn batch(mut self, size: usize) -> Self {
        self.batch = Some(size);
        self
    }

    /// With products in another precision.
    #[must_use]
    pub fn precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }

    /// For another number of clients than ten; it shows in the auxiliary networks that tell clients
    /// apart alone.
    #[must_use]
    pub fn clients(mut self, clients: usize) -> Self {
        self.clients = clients;
        self
    }

    /// With losses of one's own registered.
    #[must_use]
    pub fn losses(mut self, losses: Losses) -> Self {
        self.losses = losses;
        self
    }

    fn tracer(&self, algorithm: &dyn Algorithm) -> Result<TracedModel, GraphError> {
        let around = AuxiliaryTask {
            task: self.task,
            clients: self.clients,
            variants: BTreeMap::new(),
        };
        let (model, _) = self.model.trace(algorithm, &around, None, &self.losses)?;
        Ok(model.with_columns(self.columns.clone()))
    }
}

/// The text of a spec at a stage; of one with phases, the texts of all, each under a line that names it.
///
/// # Errors
///
/// See [`GraphError`].
pub fn graph_text(algorithm: &dyn Algorithm, view: impl Into<View>) -> Result<String, GraphError> {
    let view = view.into();
    let target = Target {
        precision: view.precision,
        ..Target::default()
    };
    let program = Program::compile_for(algorithm, view.tracer(algorithm)?, target)?;
    let mut texts = vec![];
    for (phase, program) in program.phases() {
        let header = phase.map_or_else(String::new, |phase| format!("== {phase}\n"));
        texts.push(header + &program_text(program, &view)?);
    }
    Ok(texts.join("\n"))
}

/// The text of one phase of a spec.
fn program_text(program: &Program, view: &View) -> Result<String, GraphError> {
    let batch = view.batch.unwrap_or_else(|| program.batch_size());
    Ok(match view.stage {
        Stage::Fed => print(program.staged()),
        Stage::Linked => print(program.linked()),
        Stage::Parties => program.parties()?.to_string(),
        Stage::Tensor => program.tensor_text(batch)?,
        Stage::Plan => program.plan_text(batch)?,
        Stage::Costs => {
            let graphs = program.graphs(batch)?;
            let tables = graphs
                .iter()
                .enumerate()
                .map(|(i, graph)| cost_table(&program.segment_name(i), graph, &cost(graph)));
            tables.collect::<Vec<_>>().join("\n")
        }
        Stage::Box => explain(program.linked()),
        Stage::Wire => wire_table(&wire(program.linked()), None),
    })
}

/// Compares a spec's graph with its snapshot, by `insta`, which the calling crate has among its
/// dev-dependencies: `assert_graph_snapshot!(algorithm, view)`, or with a name for the snapshot
/// first. A spec that does not compile fails the test with the compiler's error.
#[doc(hidden)]
#[macro_export]
macro_rules! __assert_graph_snapshot {
    ($name:literal, $algorithm:expr, $view:expr $(,)?) => {
        match $crate::testing::graph_text(&$algorithm, $view) {
            ::std::result::Result::Ok(text) => {
                ::insta::with_settings!({ omit_expression => true }, {
                    ::insta::assert_snapshot!($name, text);
                })
            }
            ::std::result::Result::Err(error) => ::std::panic!("{error}"),
        }
    };
    ($algorithm:expr, $view:expr $(,)?) => {
        match $crate::testing::graph_text(&$algorithm, $view) {
            ::std::result::Result::Ok(text) => {
                ::insta::with_settings!({ omit_expression => true }, {
                    ::insta::assert_snapshot!(text);
                })
            }
            ::std::result::Result::Err(error) => ::std::panic!("{error}"),
        }
    };
}
