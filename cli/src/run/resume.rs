//! `fedround resume`: goes on with a run from its last good checkpoint.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use fedround_data::DataLocation;
use fedround_store::FolderLock;
use toml::Table;

use super::args::{EngineArgs, ResumeArgs, SettingArgs, TestArgs};
use super::changed_data;
use super::checkpoints::{self, LoadedCheckpoint};
use super::folder::{CONFIG, Folder, lock, remove_states};
use super::job::Job;
use super::progress::Progress;
use super::training::Clock;
use super::{train_and_report, warn_of_weights};
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::files::names::FEDERATION;
use crate::files::several_runs::{SeveralRuns, Wanted};
use crate::settings::Settings;
use crate::settings::config::Config;
use crate::settings::difference::{FREE, difference};
use crate::settings::weights;
use crate::terminal::interrupt::listen;
use crate::terminal::{in_rounds, tell};

pub(crate) fn resume(catalog: &Catalog, args: &ResumeArgs) -> Result<ExitCode, CliError> {
    let (started, dir) = (Instant::now(), &args.dir);
    check_resumable(dir)?;
    let lock = lock(dir)?;
    let found = checkpoints::last(dir)?;
    let path = dir.join(CONFIG);
    let settings = settings(args, &path, found.as_ref())?;
    let data = settings.load()?;
    if found.is_some() {
        // Before the run's folder says the new way. Without a checkpoint, all is trained anew on what is there now.
        changed_data::check_unchanged(dir, settings.data.name(), &data)?;
    }
    let archive = found.as_ref().map(|found| &found.archive);
    let mut job = Job::to_restore(catalog, &settings, data, archive)?;
    warn_of_weights(&job, args.quiet);
    listen();
    job.keep_clients(dir)?;
    match &found {
        Some(found) => {
            let restored = job.restore(&found.archive);
            let name = settings.data.name();
            restored.map_err(|error| changed_data::explained(error, dir, name))?;
        }
        None => remove_states(dir)?,
    }
    let (done, left) = job.rounds();
    if settings.rounds < done {
        return Err(CliError::FewerRounds {
            place: match args.rounds {
                Some(_) => "--rounds".to_owned(),
                None => format!("{}, rounds", path.display()),
            },
            done,
            found: settings.rounds,
        });
    }
    let (folder, before) = open(&job, dir, lock, found.as_ref())?;
    let parameters = job.program().parameter_count();
    let settings = Settings {
        // Without those that a goal made unnecessary.
        rounds: done + left,
        ..job.settings().clone()
    };
    let progress = Progress::of_run(&settings, dir, parameters, args.quiet);
    if !args.quiet {
        let (after, left) = (in_rounds(done), in_rounds(left));
        let why = match job.ending_goal() {
            Some(round) => format!(", because the goal was reached in round {round}"),
            None => String::new(),
        };
        progress.note(&format!("goes on after {after}; {left} left{why}"));
    }
    let clock = Clock { started, before };
    if let Some(found) = &found
        && found.state.config != job.config().text(&path)?
    {
        job.save(&folder, clock)?;
    }
    train_and_report(job, &folder, progress, clock, (args.json, args.quiet))
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Fails unless a folder holds a run that this machine can go on with.
fn check_resumable(dir: &Path) -> Result<(), CliError> {
    let has = |file: &str| is_there(&dir.join(file));
    if !has(CONFIG) && !has(checkpoints::CHECKPOINTS) {
        return Err(match SeveralRuns::below(dir, Wanted::Resumed) {
            Some(found) => CliError::SeveralRuns(Box::new(found)),
            None => CliError::NoRun {
                dir: dir.to_owned(),
            },
        });
    }
    if has(FEDERATION) {
        // Here it would train on this machine's own examples.
        return Err(CliError::IsFederation {
            dir: dir.to_owned(),
        });
    }
    Ok(())
}

/// The settings that a run goes on with: flags over those of its file, at `path`, or of its checkpoint.
fn settings(
    args: &ResumeArgs,
    path: &Path,
    checkpoint: Option<&LoadedCheckpoint>,
) -> Result<Settings, CliError> {
    let mut config = match checkpoint {
        Some(found) if is_there(path) => edited(path, &found.state.config)?,
        Some(found) => Config::parse(path, &found.state.config)?,
        None => Config::read(path)?,
    };
    let flags = SettingArgs {
        rounds: args.rounds,
        checkpoint: args.checkpoint.clone(),
        engine: EngineArgs {
            threads: args.threads,
            ..EngineArgs::default()
        },
        ..SettingArgs::default()
    };
    // What the states were taken from may be gone.
    let taken = checkpoint.is_some() && config.server_state.take() == Some(true);
    let mut settings = Settings::over(config, &flags, &TestArgs::default(), None, None)?;
    if let (true, Some(weights)) = (taken, &settings.run.weights) {
        // So that config.toml says `server_state` again. The path is read only if an earlier version wrote the
        // checkpoint, which then has no states that were taken.
        let path = weights::server_state(weights).unwrap_or_else(|_| weights.file.clone());
        settings.run.server_state = Some(path);
    }
    Ok(settings)
}

/// The settings in a run's file, which somebody may have edited since its last checkpoint. That is an error
/// where results depend on the setting, other than the number of rounds: the rounds until now had another one.
fn edited(path: &Path, checkpoint: &str) -> Result<Config, CliError> {
    let file = Config::read(path).map_err(|source| CliError::UnreadableConfig {
        path: path.to_owned(),
        source: Box::new(source),
    })?;
    let table = |config: &Config| {
        Table::try_from(config).map_err(|error| CliError::Config {
            path: path.to_owned(),
            message: error.to_string(),
        })
    };
    let before = table(&Config::parse(path, checkpoint)?)?;
    let file_table = table(&file)?;
    let place = |table: &Table| table.get("data")?.as_str()?.parse::<DataLocation>().ok();
    // Whether the same examples are there is seen when they are read. Checkpoints have the paths of images.
    let moved = match (place(&file_table), place(&before)) {
        (Some(DataLocation::Images(_)), _) => false,
        (Some(now), Some(before)) => now.is_own_like(&before),
        _ => false,
    };
    let may_change = |key: &str| key == "rounds" || FREE.contains(&key) || (key == "data" && moved);
    match difference(&file_table, &before, &may_change) {
        None => Ok(file),
        Some((key, found, expected)) => Err(CliError::EditedConfig {
            path: path.to_owned(),
            key,
            found,
            expected,
        }),
    }
}

/// Opens the folder of a run, which `job` goes on with: at the checkpoint that it was restored from,
/// or at its start. Gives the time that the run has taken before, too.
pub(crate) fn open(
    job: &Job,
    dir: &Path,
    lock: FolderLock,
    checkpoint: Option<&LoadedCheckpoint>,
) -> Result<(Folder, Duration), CliError> {
    for damaged in checkpoint.iter().flat_map(|found| &found.damaged) {
        tell!("warning: {damaged}; the checkpoint before it is used");
    }
    let run = checkpoint.map(|found| &found.state.run);
    let folder = Folder::reopen(dir, lock, (job.config(), run), job.metrics())?;
    let seconds = checkpoint.map_or(0.0, |found| found.state.seconds);
    let before = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    Ok((folder, before))
}
