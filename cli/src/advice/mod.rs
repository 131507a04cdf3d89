//! Advice on errors: exit codes, and the switches and subcommands that help.
//!
//! The libraries' errors say what was expected and what was found. How to change that on the command
//! line is said here alone.

pub(crate) mod aliases;
mod data;
pub(crate) mod own_data;
mod rounds;
mod setting_switch;
pub(crate) mod usage;

use std::io::ErrorKind;

use fedround::experiment::ExperimentError;
use fedround_data::{AugmentError, PartitionError};
use fedround_dsl::HyperError;
use fedround_exec::inspect::FusionError;
use fedround_exec::{CompileError, DeviceError};
use fedround_ir::fed::{Broken, VerifyErrors};
use fedround_models::WeightsError;
use fedround_passes::PassError;
use fedround_simulation::CheckpointError;
use fedround_store::StoreError;

use data::of_data;
use rounds::of_round;
use setting_switch::setting_switch;

use crate::compare::CompareError;
use crate::error::{CliError, KeptRounds};
use crate::settings::config::is_setting;
use crate::terminal::tell;
use crate::trained::COORDINATOR_GOES_ON;
use own_data::{NATURAL, of_empty_column};

/// Exit code of bad input and failed runs.
const FAILED: u8 = 1;
/// Exit code of wrong usage.
pub(crate) const USAGE: u8 = 2;

const SPECS: &str = "`fedround list specs` shows the algorithms";
const NETWORKS: &str = "`fedround list auxiliaries` shows the networks and their variants";
const WEIGHTS: &str = "docs/weights.md describes files of weights, and --rename FROM=TO turns names of a file into the model's";
const DEVICES: &str =
    "--device cpu runs everywhere; `fedround doctor` says what there is and what is missing";
const NO_SPACE: &str = "free disk space, then continue: `fedround resume DIR` for a run, the same command again for anything else";
const CLIENTS: &str = "--clients N sets the number of clients";

/// The process's exit code after an error.
pub(crate) fn exit_code(error: &CliError) -> u8 {
    match error {
        CliError::NoSpec
        | CliError::Assignment(_)
        | CliError::Variant(_)
        | CliError::Rename(_)
        | CliError::ExportFormat(_) => USAGE,
        _ => FAILED,
    }
}

/// Writes an error to stderr, and what to do about it.
pub(crate) fn report(error: &CliError) {
    tell!("error: {error}");
    if let Some(help) = help(error) {
        tell!("help: {help}");
    }
}

/// What to do about an error, where its message does not say so itself.
fn help(error: &CliError) -> Option<String> {
    if let Some(field) = unknown_hyper(error)
        && is_setting(field)
        && let Some(switch) = setting_switch(field)
    {
        return Some(switch);
    }
    Some(match error {
        CliError::FileHyper { source, .. } => return help(source),
        CliError::DataCommand(error) => return error.help(),
        #[cfg(feature = "flower")]
        CliError::Federation(error) => return error.help(),
        CliError::Compare(error) => error.help(),
        CliError::SeveralRuns(found) => found.help(),
        CliError::KeptModel(error) => error.help(),
        CliError::Experiment { source, kept } => return of_run(source, kept.as_ref()),
        CliError::OwnDataOption { flag } => {
            format!("leave {flag} out, or name other data with --data")
        }
        CliError::DeadHyper { spec, .. } => {
            format!("`fedround list {spec}` and `fedround explain {spec}` show what it uses")
        }
        CliError::UnreadableConfig { path, .. } => {
            let path = path.display();
            format!("correct it, or delete {path} to go on with the settings of the checkpoint")
        }
        CliError::EditedConfig { path, .. } => {
            let path = path.display();
            format!(
                "set it back, or delete {path} to go on with the settings of the checkpoint; `fedround run --config {path} --out OTHER` begins a run with the new ones"
            )
        }
        CliError::Vanished { path } => {
            let dir = path.parent().unwrap_or(path).display();
            format!("`fedround resume {dir}` goes on from the last checkpoint")
        }
        error => fixed_help(error)?.to_owned(),
    })
}

/// What to do about an error whose advice does not depend on what is in it.
fn fixed_help(error: &CliError) -> Option<&'static str> {
    Some(match error {
        CliError::Spec(_) | CliError::NoSpec => SPECS,
        CliError::Hyper(_) | CliError::HyperValue { .. } => {
            "`fedround list specs` shows hyper-parameters with their defaults and ranges"
        }
        CliError::NothingToReport { .. } => {
            "a report can be written as soon as a run or a comparison ends, by Ctrl-C too"
        }
        CliError::Assignment(_) => "write for instance --set mu=0.1",
        CliError::Variant(_) => NETWORKS,
        CliError::Rename(_) => WEIGHTS,
        CliError::NoServerState { .. } => {
            "--weights RUN_FOLDER --server-state takes both from a run with checkpoints; without --server-state the states start anew"
        }
        CliError::EarlierModel { .. } => {
            "with --keep both the run folder has model-last.safetensors, which fits them"
        }
        CliError::Untrained { clients: true, .. } => "--client N takes the model of a client",
        CliError::Bench(error) => error.help()?,
        CliError::Reproduce(error) => error.help()?,
        CliError::Predict(error) => error.help()?,
        CliError::Profiles { .. } => "docs/faults.md describes the file",
        CliError::LateClient(_) => "docs/partitions.md describes newcomers",
        CliError::ConvPolicy(_) => "--convolutions auto takes the fastest on each GPU",
        CliError::Precision(_) => "--precision bf16 rounds the operands of products to 16 bits",
        CliError::Device(_) => DEVICES,
        CliError::Fusion(FusionError::NotFused) => {
            "--device wgpu or cuda chooses a GPU; `fedround doctor` says which there are"
        }
        CliError::PartiesFormat => "--at linked can be drawn",
        CliError::FusedFormat => "--at plan can be drawn",
        CliError::ByteSize(_) => {
            "--client-memory 512MB keeps so much of the clients' states in memory"
        }
        CliError::CohortBatch(_) => "--cohort-batch 8 runs up to eight clients in one graph",
        CliError::DeviceData(_) => {
            "--device-data 2GiB keeps examples of up to 2 GiB on the GPU; off copies each batch"
        }
        CliError::GraphCapture(_) => {
            "--graphs on replays steps on a GPU where it can; auto, the default, does so on NVIDIA GPUs"
        }
        CliError::NothingShared { .. } => {
            "`fedround inspect fedfed --attack` attacks what FedFed shares in the round after `distill`"
        }
        CliError::RandomImages { .. } => {
            "resize and normalise change each image alike; crop, flip and rotate do not"
        }
        CliError::Taken { .. } => {
            "choose another --out, or omit --out to take the next free name under runs/; `fedround resume` goes on with a run that was stopped"
        }
        CliError::CheckpointEvery(_) => "--checkpoint rounds:10 writes one after every tenth round",
        CliError::NoRun { .. } => "`fedround run --out DIR` begins a run",
        CliError::IsFederation { .. } => COORDINATOR_GOES_ON,
        CliError::NoGoodCheckpoint { .. } => {
            "`fedround run --config DIR/config.toml` trains it again from the start, and between parties `fedround coordinator` with another --state"
        }
        CliError::OtherRun { .. } => {
            "move this file out of the folder: `fedround resume DIR` then goes on from the run's own last checkpoint, or from its start; between parties, the `fedround coordinator` command does"
        }
        CliError::FewerRounds { .. } => {
            "the number is that of the whole run, with the rounds that are complete; without --rounds it is that of its config.toml"
        }
        CliError::Store(StoreError::NoSpace { .. }) => NO_SPACE,
        CliError::Io {
            action: "create",
            source,
            ..
        } => match source.kind() {
            ErrorKind::AlreadyExists => "choose another name, or delete the file first",
            ErrorKind::NotFound => "make the folder first that it is to be in",
            _ => return None,
        },
        CliError::Store(StoreError::Locked { .. }) => {
            "wait until the other process ends, or choose another folder"
        }
        CliError::Manifest(_) => {
            "`fedround resume DIR` writes all files of the run again from its last good checkpoint; between parties, the `fedround coordinator` command does"
        }
        CliError::Text { .. } => "docs/ir.md describes the text form",
        CliError::Request(_)
        | CliError::Pass(PassError::Request(_))
        | CliError::PassDump { .. }
        | CliError::NotRun { .. } => "`fedround opt --list` shows the passes",
        CliError::Config { .. } | CliError::ConfigKey { .. } => {
            "the config.toml of any run folder is an example"
        }
        _ => return None,
    })
}

/// The name of a hyper-parameter that no algorithm has.
fn unknown_hyper(error: &CliError) -> Option<&str> {
    match error {
        CliError::Hyper(HyperError::Unknown { field: name, .. })
        | CliError::Compare(CompareError::Hyper { name, .. }) => Some(name),
        _ => None,
    }
}

/// What to do about an error of the library, and where the rounds before it are.
fn of_run(error: &ExperimentError, kept: Option<&KeptRounds>) -> Option<String> {
    let column = match error {
        ExperimentError::Data(error) => of_empty_column(error),
        // The data may be bundled.
        ExperimentError::Partition(PartitionError::NoGroups { .. }) => {
            Some(format!("of data of your own, {NATURAL}"))
        }
        _ => None,
    };
    let advice = column.or_else(|| of_experiment(error).map(str::to_owned));
    let both = [advice, kept.map(ToString::to_string)];
    let both: Vec<String> = both.into_iter().flatten().collect();
    (!both.is_empty()).then(|| both.join("; "))
}

/// The same by the error alone.
fn of_experiment(error: &ExperimentError) -> Option<&'static str> {
    Some(match error {
        ExperimentError::Data(error) => return of_data(error),
        ExperimentError::Augment(AugmentError::NotImages { .. }) => {
            "leave --augment out: it is for images"
        }
        ExperimentError::Partition(
            PartitionError::Unknown { .. }
            | PartitionError::Argument { .. }
            | PartitionError::NotSquare { .. }
            | PartitionError::TooManyClasses { .. }
            | PartitionError::Weights { .. },
        ) => "`fedround list partitioners` shows how to write partitions",
        ExperimentError::Partition(_) => CLIENTS,
        ExperimentError::Late { .. } => "--rounds N sets the number of all rounds",
        ExperimentError::Model(_) => "`fedround list models` shows the models",
        ExperimentError::Weights(
            WeightsError::Nothing { .. }
            | WeightsError::Mismatch { .. }
            | WeightsError::Layout { .. },
        ) => WEIGHTS,
        ExperimentError::ServerState { .. } => {
            "without --server-state the states of the server start anew"
        }
        ExperimentError::NoText { .. } => "--data leaf:DIR reads texts",
        ExperimentError::NoCaptions { .. } => {
            "--data flickr8k and coco have captions; `fedround list models` shows other models"
        }
        ExperimentError::NoProtected { .. } => "without --adversary nobody looks for them",
        ExperimentError::UnusedAuxiliary { .. } => NETWORKS,
        ExperimentError::Memory { needed, .. } if 2 * needed.states > needed.total() => {
            "--client-memory 1GiB keeps the states that do not fit into it in a file of the run folder"
        }
        ExperimentError::Memory { .. } => {
            "a smaller model, fewer --threads, fewer clients, or a smaller cohort (--set fraction=..) needs less"
        }
        ExperimentError::NothingTrained { .. } => {
            "a smaller --min-clients, a longer --deadline, a smaller --dropout or --over-select leaves more clients in a round"
        }
        ExperimentError::NoChoice {
            validation: Some(_),
            ..
        } => "fewer --clients or another --partition gives each client more examples",
        ExperimentError::NoChoice { .. } => {
            "--validation 0.1 holds a tenth of each client's training examples back"
        }
        ExperimentError::PublicShare { .. } => "0.1 is a tenth of the training examples",
        ExperimentError::Validation { .. } => "0.1 is a tenth of each client's training examples",
        ExperimentError::Accuracy { .. } => "0.9 is an accuracy of 90 %",
        ExperimentError::ModelFile(StoreError::NoSpace { .. }) => NO_SPACE,
        ExperimentError::Compile(error) => return of_compilation(error),
        ExperimentError::Run(error) => return of_round(error),
        ExperimentError::Checkpoint(CheckpointError::Run(error)) => return of_round(error),
        _ => return None,
    })
}

/// Whether noise is none, which is a matter of hyper-parameters.
fn has_no_noise(errors: &VerifyErrors) -> bool {
    let mut errors = errors.0.iter();
    errors.any(|error| matches!(error.broken, Broken::NoNoise { .. }))
}

fn of_compilation(error: &CompileError) -> Option<&'static str> {
    Some(match error {
        CompileError::Auxiliary(_) => NETWORKS,
        CompileError::Pass(PassError::Verify { errors, .. }) if has_no_noise(errors) => {
            "--set changes hyper-parameters, and `fedround list SPEC` says which values they may have"
        }
        CompileError::Batch { .. } => {
            "a batch as large as the largest client already takes all examples of each client at once"
        }
        CompileError::Device(DeviceError::Precision { .. }) => {
            "--precision f32 runs on every device; `fedround doctor` says which others there are"
        }
        CompileError::Device(_) => DEVICES,
        _ => return None,
    })
}
