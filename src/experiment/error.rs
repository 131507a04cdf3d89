//! Errors of an experiment.

use std::path::PathBuf;

use fedround_data::{AugmentError, ColumnError, DataError, PartitionError};
use fedround_exec::CompileError;
use fedround_metrics::MetricError;
use fedround_models::{LowRankError, ModelError, TrainError, WeightsError};
use fedround_passes::report::number_format::bytes;
use fedround_simulation::{CheckpointError, LateClientError, RunError, ServerStateError};
use fedround_store::StoreError;

use super::input_error::InputError;
use super::memory::MemoryEstimate;
use super::report::Report;
use crate::model_source::GraphError;

/// Why an experiment could not start, or stopped before its last round.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The dataset could not be loaded or read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The examples cannot be dealt to so many clients.
    #[error(transparent)]
    Partition(#[from] PartitionError),
    /// The changes of images do not fit the data.
    #[error(transparent)]
    Augment(#[from] AugmentError),
    /// The model is unknown, or does not fit the task.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The algorithm does not compile for the model.
    #[error("cannot compile: {0}")]
    Compile(#[from] CompileError),
    /// The weights to start from cannot be read, or do not fit the model.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// Adapters have no rank, or a scale that is not above 0.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// Adapters fit no layer of the model.
    #[error(transparent)]
    LowRank(#[from] LowRankError),
    /// What a program brings does not fit together.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A round or an evaluation failed.
    #[error(transparent)]
    Run(Box<RunError>),
    /// A measure of the results is not defined for them.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// A count that must not be zero.
    #[error("{name}: expected at least 1, found 0")]
    Zero {
        /// The setting.
        name: &'static str,
    },
    /// More clients than a federation can have.
    #[error("clients: expected at most {}, found {found}", u32::MAX)]
    TooManyClients {
        /// The number.
        found: usize,
    },
    /// More worker threads than any machine can use.
    #[error(
        "threads: expected at most {limit}, found {found}; results do not depend on the number"
    )]
    TooManyThreads {
        /// The largest number.
        limit: usize,
        /// The number.
        found: usize,
    },
    /// A test accuracy outside of (0, 1].
    #[error("{name}: expected a test accuracy above 0 and up to 1, found {found}")]
    Accuracy {
        /// The setting.
        name: &'static str,
        /// Its value.
        found: f64,
    },
    /// A fraction of public examples outside of (0, 1).
    #[error("public share: expected a fraction above 0 and below 1, found {found}")]
    PublicShare {
        /// The fraction.
        found: f64,
    },
    /// A fraction of validation examples outside of (0, 1).
    #[error("validation: expected a fraction above 0 and below 1, found {found}")]
    Validation {
        /// Its value.
        found: f64,
    },
    /// A δ of differential privacy outside of (0, 1).
    #[error("delta: expected a number above 0 and below 1, found {found}")]
    Delta {
        /// Its value.
        found: f64,
    },
    /// The run needs more memory than the machine, or the process's control group, has.
    #[error("the run needs at least {needed} of memory, and the limit is {}", bytes(*limit))]
    Memory {
        /// What it needs.
        needed: MemoryEstimate,
        /// Bytes that this process may use.
        limit: u64,
    },
    /// The run has to choose by validation examples, and nobody has any.
    #[error("cannot {action}: {}", match validation {
        None => "no client holds validation examples back to choose it on".to_owned(),
        Some(share) => format!(
            "every client has too few examples to hold a share of {share} back for validation: it would be none, or all of them"
        ),
    })]
    NoChoice {
        /// What is chosen, as in `keep the best model`.
        action: &'static str,
        /// The share of its examples that each client holds back.
        validation: Option<f64>,
    },
    /// The late client trains beside a share of the others that is none.
    #[error("late client: {0}")]
    LateClient(#[from] LateClientError),
    /// The late client would never join.
    #[error("the late client joins after round {after}, but the run has only {rounds} rounds")]
    Late {
        /// The rounds before it joins.
        after: usize,
        /// All rounds.
        rounds: usize,
    },
    /// A variant is chosen of an auxiliary network that is not used.
    #[error("--aux chooses a variant of `{name}`, but this run does not use that network")]
    UnusedAuxiliary {
        /// The network.
        name: String,
    },
    /// The model describes images, and the data has no captions.
    #[error("model `{model}` describes images, and `{data}` has no captions")]
    NoCaptions {
        /// The model.
        model: String,
        /// The dataset.
        data: String,
    },
    /// The model reads texts, and the data has none.
    #[error(
        "model `{model}` reads the characters of texts, and `{data}` has none; leaf:DIR of Shakespeare has them"
    )]
    NoText {
        /// The model.
        model: String,
        /// The dataset.
        data: String,
    },
    /// The model does not read the texts of data that has nothing else.
    #[error(
        "model `{model}` does not read texts, and `{data}` has nothing else; char-lstm and gpt:LAYERSxWIDTH read them"
    )]
    UnreadTexts {
        /// The model.
        model: String,
        /// The dataset.
        data: String,
    },
    /// Adversaries are to look for protected attributes that the data does not have.
    #[error("`{data}` has no protected attributes, which `adult` has")]
    NoProtected {
        /// The dataset.
        data: String,
    },
    /// The system gives no worker threads.
    #[error("cannot start {threads} worker threads: {message}")]
    Threads {
        /// How many were wanted.
        threads: usize,
        /// What the system says.
        message: String,
    },
    /// The states of the server cannot be taken from a checkpoint.
    #[error("{}: {source}", path.display())]
    ServerState {
        /// The checkpoint.
        path: PathBuf,
        /// How they differ.
        source: ServerStateError,
    },
    /// In every round too few clients were there, so that the model is the one that the run began with.
    #[error(
        "nothing was trained: in each of the {rounds} rounds too few clients arrived, or the algorithm chose nobody, and all were skipped"
    )]
    NothingTrained {
        /// All rounds.
        rounds: usize,
    },
    /// The run could not be saved, or a checkpoint is not one of this run.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A model could not be written.
    #[error(transparent)]
    ModelFile(#[from] StoreError),
    /// Training stopped at an error. The report holds the complete rounds before it.
    #[error("{source}")]
    Training {
        /// The error.
        source: Box<ExperimentError>,
        /// Everything up to the last complete round.
        report: Box<Report>,
    },
}

impl From<RunError> for ExperimentError {
    fn from(error: RunError) -> Self {
        Self::Run(Box::new(error))
    }
}

impl From<ColumnError> for ExperimentError {
    fn from(error: ColumnError) -> Self {
        Self::Data(error.into())
    }
}

impl From<GraphError> for ExperimentError {
    fn from(error: GraphError) -> Self {
        match error {
            GraphError::Model(error) => Self::Model(error),
            GraphError::Compile(error) => Self::Compile(error),
        }
    }
}
