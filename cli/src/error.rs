//! The errors of the command.

use std::fmt;
use std::io;
use std::path::PathBuf;

use fedround::GraphError;
use fedround::experiment::{ExperimentError, KeepError};
use fedround_data::{AugmentError, ColumnError, DataError, PartitionError};
use fedround_dsl::{HyperError, SpecError};
use fedround_exec::inspect::FusionError;
use fedround_exec::{
    CompileError, ConvPolicyError, DeviceError, GraphCaptureError, PrecisionError,
};
use fedround_ir::text::ParseError;
use fedround_metrics::MetricError;
use fedround_models::{ModelError, TrainError, WeightsError};
use fedround_passes::{PassError, RequestError};
use fedround_simulation::{
    ByteSizeError, CohortBatchError, DeviceDataError, DistributionError, LateClientError,
    OnNanError, RunError,
};
use fedround_store::StoreError;

use crate::bench::BenchError;
use crate::compare::CompareError;
use crate::data::DataCommandError;
use crate::drawing::DrawingError;
#[cfg(feature = "flower")]
use crate::federation::FederationError;
use crate::files::several_runs::SeveralRuns;
use crate::new::NewError;
use crate::reproduce::ReproduceError;
use crate::run::{CheckpointEveryError, ManifestError, RunId};
use crate::trained::ExportFormatError;
use crate::trained::KeptModelError;
use crate::trained::PredictError;
use fedround_names::did_you_mean;

/// Why the command stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error(
        "{flag} {name}: `{spec}` does not use this hyper-parameter, so it would change nothing"
    )]
    DeadHyper {
        flag: &'static str,
        name: String,
        spec: String,
    },
    #[error("{}: expected the folder of a run that has ended or of a comparison{}", dir.display(), if dir.is_dir() { "" } else { ", found no such folder" })]
    NothingToReport { dir: PathBuf },
    #[error(transparent)]
    Hyper(#[from] HyperError),
    /// A hyper-parameter of a file of settings.
    #[error("{source} (in [hyper] of {path})", path = path.display())]
    FileHyper {
        path: PathBuf,
        source: Box<CliError>,
    },
    #[error(transparent)]
    Train(#[from] TrainError),
    #[error("expected NAME=VALUE after --set, found `{0}`")]
    Assignment(String),
    #[error("expected FROM=TO or `torchvision-resnet` after --rename, found `{0}`")]
    Rename(String),
    #[error("expected NAME=VARIANT after --aux, found `{0}`")]
    Variant(String),
    #[error(
        "hyper-parameter `{name}`: expected a number, a text, `true` or `false`, found {found}"
    )]
    HyperValue { name: String, found: &'static str },
    #[error(
        "no algorithm to run: expected SPEC, as in `fedround run fedprox`, or --config FILE with the key `spec`"
    )]
    NoSpec,
    /// Anything that the library says of a run.
    #[error("{source}")]
    Experiment {
        source: Box<ExperimentError>,
        /// Where the rounds before it are.
        kept: Option<KeptRounds>,
    },
    #[error(transparent)]
    DataCommand(#[from] DataCommandError),
    #[error(transparent)]
    Drawing(#[from] DrawingError),
    #[error(transparent)]
    ExportFormat(#[from] ExportFormatError),
    #[error(transparent)]
    Compare(#[from] CompareError),
    #[cfg(feature = "flower")]
    #[error(transparent)]
    Federation(#[from] FederationError),
    #[error(transparent)]
    New(#[from] NewError),
    #[error(transparent)]
    Predict(#[from] PredictError),
    #[error(transparent)]
    Bench(#[from] BenchError),
    #[error(transparent)]
    Reproduce(#[from] ReproduceError),
    #[error("--device: {0}")]
    Device(#[from] DeviceError),
    #[error("--precision: {0}")]
    Precision(#[from] PrecisionError),
    #[error("--convolutions: {0}")]
    ConvPolicy(#[from] ConvPolicyError),
    #[error("--at fused: {0}")]
    Fusion(#[from] FusionError),
    #[error("--at fused: expected `--format text`")]
    FusedFormat,
    #[error("--at parties: expected `--format text`")]
    PartiesFormat,
    #[error("--phase {found}: expected {}", .phases.join("; or "))]
    NoPhase { found: usize, phases: Vec<String> },
    #[error("--cohort-batch: {0}")]
    CohortBatch(#[from] CohortBatchError),
    #[error("--client-memory: {0}")]
    ByteSize(#[from] ByteSizeError),
    #[error("--graphs: {0}")]
    GraphCapture(#[from] GraphCaptureError),
    #[error("--device-data: {0}")]
    DeviceData(#[from] DeviceDataError),
    #[error("--speed or --bandwidth: {0}")]
    Distribution(#[from] DistributionError),
    #[error("{path}: {message}", path = path.display())]
    Profiles { path: PathBuf, message: String },
    #[error("--keep: {0}")]
    Keep(#[from] KeepError),
    #[error("--on-nan: {0}")]
    OnNan(#[from] OnNanError),
    #[error("--newcomer: {0}")]
    LateClient(#[from] LateClientError),
    #[error("{path}: {message}", path = path.display())]
    Config { path: PathBuf, message: String },
    #[error("{path}: unknown key `{key}`{}; the keys are {known}", did_you_mean(*nearest), path = path.display())]
    ConfigKey {
        path: PathBuf,
        key: String,
        nearest: Option<&'static str>,
        known: String,
    },
    #[error("`{}` already holds a run (it has {file}); nothing was written", dir.display())]
    Taken { dir: PathBuf, file: &'static str },
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// A file that is written or a checkpoint, with what is wrong.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file of a run is not as the run left it.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A run has no model, or a damaged one.
    #[error(transparent)]
    KeptModel(#[from] KeptModelError),
    #[error("--checkpoint: {0}")]
    CheckpointEvery(#[from] CheckpointEveryError),
    #[error("`{}` holds no run: expected its config.toml or checkpoints", dir.display())]
    NoRun { dir: PathBuf },
    /// A command that takes one run was given the folder of several.
    #[error("{0}")]
    SeveralRuns(Box<SeveralRuns>),
    #[error(
        "`{}` holds the run of a federation, whose clients are at parties; nothing was written",
        dir.display()
    )]
    IsFederation { dir: PathBuf },
    #[error(
        "{}: expected the number of a round, found {found:?}; write the number of the last round that was begun",
        path.display()
    )]
    NoRound { path: PathBuf, found: String },
    #[error("no checkpoint can be read: {}", damaged.join("; "))]
    NoGoodCheckpoint { damaged: Vec<String> },
    #[error(
        "{} belongs to run {found} ({what}), but this folder belongs to run {expected}",
        path.display()
    )]
    OtherRun {
        path: PathBuf,
        found: RunId,
        what: String,
        expected: RunId,
    },
    #[error("{place}: the run already has {done} rounds, so it cannot be shortened to {found}")]
    FewerRounds {
        /// The flag or the key of a file.
        place: String,
        done: usize,
        found: usize,
    },
    /// A run with a checkpoint has a file of settings that cannot be read.
    #[error("{source}")]
    UnreadableConfig {
        path: PathBuf,
        source: Box<CliError>,
    },
    /// A run cannot go on with a setting that its file got later.
    #[error(
        "{}: `{key}` is {found} now, and the run was trained with {expected} until its last checkpoint; nothing was written",
        path.display()
    )]
    EditedConfig {
        path: PathBuf,
        key: String,
        found: String,
        expected: String,
    },
    #[error(
        "{} was deleted or changed while the run was going on",
        path.display()
    )]
    Vanished { path: PathBuf },
    /// Charts are drawn in memory, before there is a file.
    #[error("cannot draw a chart: {0}")]
    Chart(String),
    #[error("cannot draw {}: {message}", path.display())]
    Draw { path: PathBuf, message: String },
    #[error(
        "--attack needs at least two clients that share images of their examples in these rounds; `{spec}` has fewer"
    )]
    NothingShared { spec: String },
    #[error(
        "--attack cannot be combined with --augment {augment}: shared images are changed at random and cannot be compared with the originals"
    )]
    RandomImages { augment: String },
    #[error("{}:{source}", path.display())]
    Text {
        path: PathBuf,
        source: Box<ParseError>,
    },
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error(transparent)]
    Pass(#[from] PassError),
    #[error(
        "{variable}: unknown value `{found}`{}; expected `before`, `after` or a pass of `fedround opt --list`",
        did_you_mean(*nearest)
    )]
    PassDump {
        variable: &'static str,
        found: String,
        nearest: Option<&'static str>,
    },
    #[error("pass `{pass}` does not run here; the passes that do are {ran}")]
    NotRun { pass: String, ran: String },
    #[error(
        "the server's model in {} has parameters that were never trained: {tensors}{}", dir.display(),
        if *clients { "; only clients have trained values of them" } else { "" }
    )]
    Untrained {
        dir: PathBuf,
        tensors: String,
        /// Whether clients have models of their own.
        clients: bool,
    },
    #[error(
        "--server-state: `{}` has no checkpoint to read the server's states from", dir.display()
    )]
    NoServerState { dir: PathBuf },
    #[error(
        "--server-state: {} is the best model, but the stored server states are of the last round", file.display()
    )]
    EarlierModel { file: PathBuf },
    #[error("there is no client {client}: the run has {clients}, from 0")]
    NoClient { client: usize, clients: usize },
    #[error("the model has no part `{part}`; its parts are {known}")]
    Part { part: String, known: String },
    #[error(
        "`{data}` is no longer what {} was trained on: {difference}; restore its files, or train again",
        dir.display()
    )]
    ChangedData {
        dir: PathBuf,
        data: String,
        difference: String,
    },
    #[error(
        "{flag} applies only to other data (--data); the run's own data is always read as in training, so that no training example is tested"
    )]
    OwnDataOption { flag: String },
    #[error("{}, row {row}: {message}", file.display())]
    Row {
        file: PathBuf,
        row: usize,
        message: String,
    },
    #[error("cannot write to stdout: {0}")]
    Stdout(io::Error),
    #[error("cannot write a report as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The complete rounds that a run left in its folder.
#[derive(Debug)]
pub(crate) struct KeptRounds {
    pub rounds: usize,
    pub dir: PathBuf,
}

impl fmt::Display for KeptRounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dir = self.dir.display();
        match self.rounds {
            0 => write!(
                f,
                "no round trained a model; the settings are kept in {dir}"
            ),
            1 => write!(f, "1 round is kept in {dir}"),
            n => write!(f, "{n} rounds are kept in {dir}"),
        }
    }
}

impl From<ExperimentError> for CliError {
    fn from(error: ExperimentError) -> Self {
        let source = match error {
            ExperimentError::Training { source, .. } => source,
            error => Box::new(error),
        };
        Self::Experiment { source, kept: None }
    }
}

/// Errors that the library has a variant for.
macro_rules! of_experiments {
    ($($error:ty),*) => {
        $(impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                ExperimentError::from(error).into()
            }
        })*
    };
}

of_experiments!(
    AugmentError,
    ColumnError,
    CompileError,
    DataError,
    GraphError,
    MetricError,
    ModelError,
    PartitionError,
    RunError,
    WeightsError
);

impl CliError {
    /// What a failed operation on a file or folder becomes.
    pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}

/// Fails for a count of zero.
pub(crate) fn at_least_one(name: &'static str, n: usize) -> Result<usize, CliError> {
    match n {
        0 => Err(ExperimentError::Zero { name }.into()),
        n => Ok(n),
    }
}
