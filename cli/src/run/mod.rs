//! `fedround run`: compiles, trains, and keeps everything in a run folder.

mod args;
mod folder;
mod goal;
mod interrupt;
mod job;
mod local;
mod progress;
mod speech;
mod summary;
mod table;
mod train;

use std::process::ExitCode;
use std::time::Instant;

use fedround_data::load;
use fedround_simulation::RunError;

pub(super) use args::{EngineArgs, RunArgs, SettingArgs, TestArgs};
pub(super) use folder::{CONFIG, FILES, Folder, METRICS, SUMMARY, next_free, slug};
pub(super) use goal::Goal;
pub(super) use interrupt::listen;
pub(super) use job::{DATA_SEED, Job, parts};
pub(super) use progress::Progress;
pub(super) use summary::Status;

use super::Cli;
use super::assets::warn;
use super::auxiliaries;
use super::error::{self, CliError, Kept};
use super::output::{print, tell};
use super::settings::Settings;
use summary::Summary;

/// Runs the subcommand.
pub(super) fn run(cli: &Cli, args: &RunArgs) -> Result<ExitCode, CliError> {
    let started = Instant::now();
    let settings = Settings::resolve(&args.settings, &args.tests, args.spec.as_deref(), args.seed)?;
    let algorithm = cli.algorithm(&settings.spec, &settings.hypers)?;
    if let Some(out) = &args.out {
        folder::check_free(out)?;
    }
    let data = load(&settings.data, settings.data_dir.as_deref(), DATA_SEED)?;
    if !args.quiet {
        data.notes.iter().for_each(|note| tell!("note: {note}"));
    }
    let splits = settings
        .partition
        .deal(&data, settings.clients, settings.seed)?;
    let job = Job::new(cli, &settings, &*algorithm, &data, &splits)?;
    drop((data, splits));
    auxiliaries::check(&settings.aux, &job.settings().aux)?;
    warn(job.program());

    // Bad input is behind us: from here on there is something to keep.
    let stop = listen();
    let (spec, seed) = (slug(&settings.spec), settings.seed);
    let dir = match &args.out {
        Some(dir) => dir.clone(),
        None => next_free(&format!("{spec}-{}-seed{seed}", settings.data))?,
    };
    let folder = Folder::create(&dir, job.config())?;
    let parameters = job.program().parameter_count();
    let mut progress = Progress::of_run(job.settings(), folder.dir(), parameters, args.quiet);
    let ended = job.run(cli, &folder, &mut progress, stop, started);
    progress.finish();
    let (summary, failure) = ended?;
    if args.json {
        print(&summary.text()?)?;
    } else if !args.quiet && summary.rounds > 0 {
        print(&table::text(&summary))?;
    }
    end(&summary, failure, &folder)
}

/// The exit code of what is now in the folder.
fn end(
    summary: &Summary,
    failure: Option<RunError>,
    folder: &Folder,
) -> Result<ExitCode, CliError> {
    let kept = Kept {
        rounds: summary.rounds,
        dir: folder.dir().to_owned(),
    };
    match (failure, summary.status) {
        (Some(source), _) => Err(CliError::Run {
            source: Box::new(source),
            kept: Some(kept),
        }),
        (None, Status::Interrupted) => {
            tell!("stopped by Ctrl-C: {kept}");
            Ok(ExitCode::from(error::INTERRUPTED))
        }
        (None, _) => Ok(ExitCode::SUCCESS),
    }
}
