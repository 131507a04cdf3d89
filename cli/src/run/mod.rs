//! `fedround run`: compiles, trains, and keeps everything in a run folder.

mod args;
pub(crate) mod client_models;
mod folder;
mod metric;
mod progress;
mod summary;
mod table;
mod training;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use fedround::experiment::{ExperimentError, Status};

pub(crate) use args::{EngineArgs, RunArgs, SettingArgs, TestArgs};
pub(crate) use folder::{CLIENTS, CONFIG, FILES, Folder, METRICS, MODEL, SUMMARY, next_free, slug};
pub(crate) use progress::Progress;
pub(crate) use summary::Models;
pub(crate) use training::Job;

use crate::advice::INTERRUPTED;
use crate::catalog::Catalog;
use crate::catalog::warn;
use crate::error::{CliError, KeptRounds};
use crate::files::json;
use crate::interrupt::listen;
use crate::output::{print, tell};
use crate::settings::Settings;
use summary::Summary;

/// Runs the subcommand.
pub(crate) fn run(catalog: &Catalog, args: &RunArgs) -> Result<ExitCode, CliError> {
    let started = Instant::now();
    let settings = Settings::resolve(&args.settings, &args.tests, args.spec.as_deref(), args.seed)?;
    // Unknown names are errors before any data is read.
    catalog.algorithm(&settings.spec, &settings.hypers)?;
    if let Some(out) = &args.out {
        folder::check_free(out)?;
    }
    let data = settings.load()?;
    if !args.quiet {
        data.notes.iter().for_each(|note| tell!("note: {note}"));
    }
    let job = Job::new(catalog, &settings, Arc::new(data))?;
    warn(job.program());
    if let Some(weights) = job.loaded_weights().filter(|_| !args.quiet) {
        tell!("note: {}", weights.note());
    }

    // Bad input is behind us: from here on there is something to keep.
    let stop = listen();
    let (spec, seed) = (slug(&settings.spec), settings.run.seed);
    let dir = match &args.out {
        Some(dir) => dir.clone(),
        None => next_free(&format!("{spec}-{}-seed{seed}", settings.data))?,
    };
    let folder = Folder::create(&dir, job.config())?;
    let parameters = job.program().parameter_count();
    let mut progress = Progress::of_run(job.settings(), folder.dir(), parameters, args.quiet);
    let ended = job.train(&folder, &mut progress, stop, started);
    progress.finish();
    let (summary, failure) = ended?;
    if args.json {
        print(&json(&summary)?)?;
    } else if !args.quiet && summary.rounds > 0 {
        print(&table::text(&summary))?;
    }
    end(&summary, failure, &folder)
}

/// The exit code of what is now in the folder.
fn end(
    summary: &Summary,
    failure: Option<ExperimentError>,
    folder: &Folder,
) -> Result<ExitCode, CliError> {
    let kept = KeptRounds {
        rounds: summary.rounds,
        dir: folder.dir().to_owned(),
    };
    match (failure, summary.status) {
        (Some(source), _) => Err(CliError::Experiment {
            source: Box::new(source),
            kept: Some(kept),
        }),
        (None, Status::Interrupted) => {
            tell!("stopped by Ctrl-C: {kept}");
            Ok(ExitCode::from(INTERRUPTED))
        }
        (None, _) => Ok(ExitCode::SUCCESS),
    }
}
