//! For the tests of a crate of own algorithms: a spec's graph as text, to be snapshot-tested.
//!
//! ```
//! use fedround::algorithms::FedAvg;
//! use fedround::testing::{Stage, graph};
//!
//! let text = graph(&FedAvg::default(), "2nn", Stage::Linked).unwrap();
//! assert!(text.contains("fed.weighted_mean"));
//! ```

use fedround_dsl::Algorithm;
use fedround_exec::{CompileError, Program, Tracer};
use fedround_ir::fed::print;
use fedround_models::{Losses, ModelError, Task, find};
use fedround_passes::fed::{explain, wire, wire_table};

/// What [`graph`] prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The spec as it was written: slots, calls and regions.
    Fed,
    /// Slots bound and simplified: one round, from parameters to parameters.
    Linked,
    /// Each compute region as a graph of tensor ops, for the spec's batch size.
    Tensor,
    /// The same with its slots: what the executor walks.
    Plan,
    /// The algorithm box, read off the linked graph.
    Box,
    /// What crosses between server and clients.
    Wire,
}

/// A spec's graph could not be had.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// The model is unknown.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The spec does not compile.
    #[error(transparent)]
    Compile(#[from] CompileError),
}

/// The text of a spec at a stage, compiled for a bundled model on 28x28 grey images of ten
/// classes. It has no values of hyper-parameters, no paths and no line numbers, so that a snapshot
/// of it changes with the algorithm alone.
///
/// # Errors
///
/// See [`GraphError`].
pub fn graph(algorithm: &dyn Algorithm, model: &str, stage: Stage) -> Result<String, GraphError> {
    let task = Task {
        input: [1, 28, 28],
        classes: 10,
    };
    let built = find(model)?.build(task, &Default::default())?;
    let tracer = Tracer::new(model, built, task, Losses::default());
    let program = Program::compile(algorithm, tracer)?;
    Ok(match stage {
        Stage::Fed => print(program.staged()),
        Stage::Linked => print(program.linked()),
        Stage::Tensor => program.tensor_text(program.batch_size())?,
        Stage::Plan => program.plan_text(program.batch_size())?,
        Stage::Box => explain(program.linked()),
        Stage::Wire => wire_table(&wire(program.linked()), None),
    })
}
