//! Advice on errors of rounds.

use fedround_exec::{CompileError, ExecError};
use fedround_simulation::{Diverged, FaultsError, RunError};
use fedround_store::ClientStoreError;

use super::{CLIENTS, DEVICES, NO_SPACE};

/// What to do about an error of a round.
pub(super) fn of_round(error: &RunError) -> Option<&'static str> {
    Some(match error {
        RunError::NobodyElse { .. } => CLIENTS,
        RunError::Compile(CompileError::Device(_)) => DEVICES,
        RunError::NoPublic { .. } => {
            "--public-share 0.1 makes a tenth of the training examples public"
        }
        RunError::CaptureOnCpu => "--device wgpu or cuda with --graphs require, or --graphs off",
        RunError::Exec(ExecError::NotReplayed(_)) => "--graphs on runs such steps one op at a time",
        RunError::Faults(FaultsError::NoClock) => {
            "--speed lognormal:10:0.5 and --bandwidth constant:20 are a clock"
        }
        RunError::Diverged {
            what: Diverged::Server,
            ..
        } => {
            "`fedround list specs` shows the hyper-parameters, such as --set server_lr=.., with ranges"
        }
        RunError::Diverged { .. } => "--set lr=.. lowers the learning rate",
        RunError::ClientStates(ClientStoreError::NoSpace { .. }) => NO_SPACE,
        // These may pass.
        RunError::ClientStates(ClientStoreError::Busy { .. }) => return None,
        RunError::ClientStates(ClientStoreError::Database { path, .. }) if path.exists() => {
            return None;
        }
        RunError::ClientStates(_) => {
            "the states of clients belong to the checkpoints, and `compare`, `sweep` and `reproduce` delete them when a run ends; without them `fedround run --config DIR/config.toml` trains the run again"
        }
        RunError::Thread(_) => "--threads N trains fewer clients at once",
        _ => return None,
    })
}
