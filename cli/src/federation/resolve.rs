//! The settings of both sides of a federation.

use crate::error::CliError;
use crate::run::{SettingArgs, TestArgs};
use crate::settings::Settings;
use crate::settings::config::Config;

/// Settings as of a run, and the deadline of their file. There it is in real seconds: the file's virtual
/// clock is that of a simulation.
pub(super) fn resolve(
    args: &SettingArgs,
    tests: &TestArgs,
    spec: Option<&str>,
    seed: Option<u64>,
) -> Result<(Settings, Option<f64>), CliError> {
    let mut file = match &args.config {
        Some(path) => Config::read(path)?,
        None => Config::default(),
    };
    let deadline = file.faults.deadline.take();
    let settings = Settings::over(file, args, tests, spec, seed)?;
    Ok((settings, deadline))
}
