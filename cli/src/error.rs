//! What the command can fail with, and how it says so.

use std::fmt;
use std::io;
use std::path::PathBuf;

use fedround_data::{AugmentError, ColumnError, DataError, PartitionError};
use fedround_dsl::{HyperError, SpecError};
use fedround_exec::{
    CohortBatchError, CompileError, ConvPolicyError, DeviceError, FusionError, GraphCaptureError,
    LateClientError, PrecisionError, RunError,
};
use fedround_ir::text::ParseError;
use fedround_metrics::MetricError;
use fedround_models::ModelError;
use fedround_passes::{PassError, RequestError};

use super::bench::BenchError;
use super::compare::CompareError;
use super::data::DataCommandError;
use super::output::tell;
use super::reproduce::ReproduceError;

/// Exit code of bad input and failed runs.
const FAILED: u8 = 1;
/// Exit code of wrong usage.
pub(super) const USAGE: u8 = 2;
/// Exit code of a run that Ctrl-C stopped.
pub(super) const INTERRUPTED: u8 = 130;

/// Why the command stopped.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error(transparent)]
    Hyper(#[from] HyperError),
    #[error("expected NAME=VALUE after --set, found `{0}`")]
    Assignment(String),
    #[error("expected NAME=VARIANT after --aux, found `{0}`")]
    Variant(String),
    #[error(
        "--aux chooses a variant of the auxiliary network `{name}`, but the algorithm applies none of its functions that the model lacks"
    )]
    UnusedVariant { name: String },
    #[error(
        "hyper-parameter `{name}`: expected a number, a text, `true` or `false`, found {found}"
    )]
    HyperValue { name: String, found: &'static str },
    #[error(
        "no algorithm to run: expected SPEC, as in `fedround run fedprox`, or --config FILE with the key `spec`"
    )]
    NoSpec,
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Partition(#[from] PartitionError),
    #[error(transparent)]
    DataCommand(#[from] DataCommandError),
    #[error(transparent)]
    Compare(#[from] CompareError),
    #[error(transparent)]
    Bench(#[from] BenchError),
    #[error(transparent)]
    Reproduce(#[from] ReproduceError),
    #[error(transparent)]
    Model(#[from] ModelError),
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
    #[error("--cohort-batch: {0}")]
    CohortBatch(#[from] CohortBatchError),
    #[error("--graphs: {0}")]
    Graphs(#[from] GraphCaptureError),
    #[error("--newcomer: {0}")]
    Newcomer(#[from] LateClientError),
    #[error("--newcomer: the last client joins after {after} rounds, and there are {rounds}")]
    Late { after: usize, rounds: usize },
    /// Changes of images that are none, or do not fit the data.
    #[error(transparent)]
    Augment(#[from] AugmentError),
    #[error("cannot compile: {0}")]
    Compile(#[from] CompileError),
    #[error("{source}")]
    Run {
        source: Box<RunError>,
        /// Where the rounds before it are.
        kept: Option<Kept>,
    },
    #[error("{path}: {message}", path = path.display())]
    Config { path: PathBuf, message: String },
    #[error("{path}: unknown key `{key}`{}; the keys are {known}", hint(*nearest), path = path.display())]
    ConfigKey {
        path: PathBuf,
        key: String,
        nearest: Option<&'static str>,
        known: String,
    },
    #[error("{name}: expected at least 1, found {found}")]
    TooSmall { name: &'static str, found: usize },
    #[error(
        "model `{model}` describes images, and `{data}` has no captions; choose flickr8k or coco, or another model"
    )]
    NoCaptions { model: String, data: String },
    #[error("--adversary: `{data}` has no protected attributes, which `adult` has")]
    NoProtected { data: String },
    #[error("{name}: expected a test accuracy above 0 and up to 1, found {found}")]
    Accuracy { name: &'static str, found: f64 },
    #[error("`{}` already holds a run (it has {file}); nothing was written", dir.display())]
    Taken { dir: PathBuf, file: &'static str },
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("cannot draw {}: {message}", path.display())]
    Draw { path: PathBuf, message: String },
    #[error(
        "--attack: clients of `{spec}` share no images of their examples in these rounds, expected at least two that do"
    )]
    NothingShared { spec: String },
    #[error(
        "--attack: with --augment {augment} clients share images as they were changed at random, expected steps that change each image alike"
    )]
    RandomImages { augment: String },
    #[error(transparent)]
    Metric(#[from] MetricError),
    #[error("{}:{source}", path.display())]
    Text {
        path: PathBuf,
        source: Box<ParseError>,
    },
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error(transparent)]
    Pass(#[from] PassError),
    #[error("pass `{pass}` does not run here; the passes that do are {ran}")]
    NotRun { pass: String, ran: String },
    #[error("cannot write to stdout: {0}")]
    Stdout(io::Error),
    #[error("cannot start {threads} worker threads: {message}")]
    Threads { threads: usize, message: String },
    #[error("cannot write a report as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// What a failed run left.
#[derive(Debug)]
pub(super) struct Kept {
    pub rounds: usize,
    pub dir: PathBuf,
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dir = self.dir.display();
        match self.rounds {
            0 => write!(f, "no round was completed; the settings are kept in {dir}"),
            1 => write!(f, "1 round is kept in {dir}"),
            n => write!(f, "{n} rounds are kept in {dir}"),
        }
    }
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |n| format!(" (did you mean `{n}`?)"))
}

impl From<ColumnError> for CliError {
    fn from(error: ColumnError) -> Self {
        Self::Data(error.into())
    }
}

impl CliError {
    pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }

    pub fn code(&self) -> u8 {
        match self {
            Self::NoSpec | Self::Assignment(_) | Self::Variant(_) => USAGE,
            _ => FAILED,
        }
    }

    /// What to do about it, where the message does not say so itself.
    fn help(&self) -> Option<String> {
        let text = match self {
            Self::Spec(_) => "`fedround list specs` shows the algorithms",
            Self::Hyper(_) | Self::HyperValue { .. } => {
                "`fedround list specs` shows hyper-parameters with their defaults and ranges"
            }
            Self::Assignment(_) => "write for instance --set mu=0.1",
            Self::NoSpec => "`fedround list specs` shows the algorithms",
            Self::Variant(_)
            | Self::UnusedVariant { .. }
            | Self::Compile(CompileError::Auxiliary(_)) => {
                "`fedround list auxiliaries` shows the networks and their variants"
            }
            Self::Data(DataError::UnknownDataset { .. }) => {
                "`fedround list datasets` shows the datasets"
            }
            Self::DataCommand(error) => return error.help(),
            Self::Compare(error) => return error.help(),
            Self::Bench(error) => error.help()?,
            Self::Reproduce(error) => return error.help(),
            Self::Data(DataError::NoDirectory { .. }) => {
                "--data-dir DIR names the data folder; --data synth-digits trains without any files"
            }
            Self::Data(_) => "--data synth-digits trains without any files",
            Self::Partition(
                PartitionError::Unknown { .. }
                | PartitionError::Argument { .. }
                | PartitionError::NoGroups { .. }
                | PartitionError::NotSquare { .. }
                | PartitionError::TooManyClasses { .. }
                | PartitionError::Weights { .. },
            ) => "`fedround list partitioners` shows how to write partitions",
            Self::Partition(_) => "--clients N sets the number of clients",
            Self::Newcomer(_) => "docs/partitions.md describes newcomers",
            Self::Late { .. } => "--rounds N sets the number of all rounds",
            Self::Model(_) => "`fedround list models` shows the models",
            Self::Compile(CompileError::Device(DeviceError::Precision { .. })) => {
                "--precision f32 runs on every device; `fedround doctor` says which others there are"
            }
            Self::ConvPolicy(_) => "--convolutions auto takes the fastest on each GPU",
            Self::Precision(_) => "--precision bf16 rounds the operands of products to 16 bits",
            Self::Device(_) | Self::Compile(CompileError::Device(_)) => {
                "--device cpu runs everywhere; `fedround doctor` says what there is and what is missing"
            }
            Self::Fusion(FusionError::NotFused) => {
                "--device wgpu or cuda chooses a GPU; `fedround doctor` says which there are"
            }
            Self::FusedFormat => "--at plan can be drawn",
            Self::CohortBatch(_) => "--cohort-batch 8 runs up to eight clients in one graph",
            Self::Graphs(_) => "--graphs on replays steps on a GPU where it can",
            Self::NoProtected { .. } => "without --adversary nobody looks for them",
            Self::Accuracy { .. } => "0.9 is an accuracy of 90 %",
            Self::NothingShared { .. } => {
                "`fedround inspect fedfed --attack` attacks what FedFed shares in the round after `distill`"
            }
            Self::RandomImages { .. } => {
                "resize and normalise change each image alike; crop, flip and rotate do not"
            }
            Self::Taken { .. } => {
                "choose another --out, or leave it away for the next free name under runs/"
            }
            Self::Run { source, .. } if matches!(**source, RunError::NobodyElse { .. }) => {
                "--clients N sets the number of clients"
            }
            Self::Run { source, .. }
                if matches!(**source, RunError::Compile(CompileError::Device(_))) =>
            {
                "--device cpu runs everywhere; `fedround doctor` says what there is and what is missing"
            }
            Self::Run { source, .. } if matches!(**source, RunError::CaptureOnCpu) => {
                "--device wgpu or cuda with --graphs require, or --graphs off"
            }
            Self::Run {
                kept: Some(kept), ..
            } => {
                return Some(kept.to_string());
            }
            Self::Text { .. } => "docs/ir.md describes the text form",
            Self::Request(_)
            | Self::Pass(PassError::Request(_) | PassError::Dump(_))
            | Self::NotRun { .. } => "`fedround opt --list` shows the passes",
            Self::Config { .. } | Self::ConfigKey { .. } => {
                "the config.toml of any run folder is an example"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// Writes it to stderr.
    pub fn report(&self) {
        tell!("error: {self}");
        if let Some(help) = self.help() {
            tell!("help: {help}");
        }
    }
}
