//! `fedround run`: compiles, trains, and keeps everything in a run folder.

mod args;
mod changed_data;
mod checkpoint_every;
mod checkpoints;
mod class_rows;
mod cohort_note;
mod drawings;
mod early_end;
mod folder;
mod folder_name;
mod job;
mod manifest;
mod manifest_error;
mod metric;
mod models;
mod phases;
mod pixels;
mod progress;
mod recorder;
mod resume;
mod run_id;
mod server_models;
mod summary;
mod summary_counts;
mod table;
mod track;
mod training;

use std::process::ExitCode;

use fedround::experiment::{ExperimentError, Status};

pub(crate) use args::{EngineArgs, ResumeArgs, RunArgs, SettingArgs, TestArgs};
pub(crate) use changed_data::{check_like, check_unchanged};
pub(crate) use checkpoint_every::{CheckpointEvery, CheckpointEveryError};
pub(crate) use checkpoints::{
    has_any as has_checkpoint, last as last_checkpoint, last_begun, note_begun,
};
pub(crate) use cohort_note::one_of_several;
pub(crate) use folder::{
    CLIENTS, CONFIG, FILES, Folder, INPUTS, MANIFEST, METRICS, MODEL, SUMMARY, lock, lock_free,
    lock_if_there, remove_states,
};
pub(crate) use folder_name::{next_free, slug};
pub(crate) use job::Job;
pub(crate) use manifest::Manifest;
pub(crate) use manifest_error::ManifestError;
pub(crate) use metric::Models;
pub(crate) use models::client_file;
pub(crate) use phases::LAST as LAST_PHASE;
pub(crate) use progress::Progress;
pub(crate) use resume::{open, resume};
pub(crate) use run_id::RunId;
pub(crate) use summary::Summary;
pub(crate) use table::bleu;
pub(crate) use track::Track;
pub(crate) use training::Clock;

use crate::catalog::Catalog;
use crate::compile::compilation::warn;
use crate::data::client_names;
use crate::error::{CliError, KeptRounds};
use crate::files::json;
use crate::settings::Settings;
use crate::terminal::interrupt::{listen, signal};
use crate::terminal::{print, tell};

pub(crate) fn run(catalog: &Catalog, args: &RunArgs) -> Result<ExitCode, CliError> {
    let clock = Clock::start();
    let settings = Settings::resolve(&args.settings, &args.tests, args.spec.as_deref(), args.seed)?;
    let mut settings = settings.fitted(catalog)?;
    if !args.track.is_empty() {
        settings.track.clone_from(&args.track);
    }
    // Unknown names are errors before any data is read.
    let algorithm = catalog.algorithm(&settings.spec, &settings.hypers)?;
    if let Some(out) = &args.out {
        folder::check_free(out)?;
    }
    let data = settings.load()?;
    client_names::tell_notes(&settings, &data);
    let of_pixels = pixels::warning(&*algorithm, &data);
    let mut job = Job::new(catalog, &settings, data)?;
    warn(job.program());
    warn_of_weights(&job, args.quiet);
    warn_of_job(&job);
    job.uses(catalog)?.told().check(&settings.spec)?;
    if let Some(note) = one_of_several(catalog, &job)?.filter(|_| !args.quiet) {
        tell!("note: {note}");
    }
    let unreached = phases::unreached(job.program(), settings.rounds);
    for warning in of_pixels.into_iter().chain(unreached) {
        tell!("warning: {warning}");
    }

    // Bad input is behind us: from here on there is something to keep.
    listen();
    let (spec, seed) = (slug(&settings.spec), settings.run.seed);
    let dir = match &args.out {
        Some(dir) => dir.clone(),
        None => next_free(&format!(
            "{spec}-{}-seed{seed}",
            slug(&settings.data.name())
        ))?,
    };
    let folder = Folder::create(&dir, job.config())?;
    let parameters = job.program().parameter_count();
    let progress = Progress::of_run(job.settings(), folder.dir(), parameters, args.quiet);
    job.keep_clients(folder.dir())?;
    train_and_report(job, &folder, progress, clock, (args.json, args.quiet))
}

/// Trains the rounds that are left, and prints what the run came to.
fn train_and_report(
    job: Job,
    folder: &Folder,
    mut progress: Progress,
    clock: Clock,
    (json_only, quiet): (bool, bool),
) -> Result<ExitCode, CliError> {
    let ended = job.train(folder, &mut progress, clock);
    progress.finish();
    let (summary, failure) = ended?;
    let again = format!("`fedround resume {}` goes on", folder.dir().display());
    report((&summary, failure), folder, &again, (json_only, quiet))
}

/// Says what a run took from a file of weights; if `quiet`, only where that is not the whole model.
fn warn_of_weights(job: &Job, quiet: bool) {
    let weights = job.loaded_weights();
    if let Some(weights) = weights.filter(|weights| !quiet || weights.is_partial()) {
        tell!("note: {}", weights.note());
    }
}

/// Says what a [`Job`] warns of.
pub(crate) fn warn_of_job(job: &Job) {
    job.warnings()
        .for_each(|warning| tell!("warning: {warning}"));
}

/// Prints what a run came to, as JSON or as a table, and gives the exit code of what is now in the
/// folder. `again` says how to go on with a run that was stopped.
pub(crate) fn report(
    (summary, failure): (&Summary, Option<ExperimentError>),
    folder: &Folder,
    again: &str,
    (json_only, quiet): (bool, bool),
) -> Result<ExitCode, CliError> {
    if json_only {
        print(&json(summary)?)?;
    } else if !quiet && summary.trained {
        print(&table::text(summary))?;
    }
    let kept = KeptRounds {
        rounds: if summary.trained { summary.rounds } else { 0 },
        dir: folder.dir().to_owned(),
    };
    match (failure, summary.status, signal()) {
        (Some(source), ..) => Err(CliError::Experiment {
            source: Box::new(source),
            kept: Some(kept),
        }),
        (None, Status::Interrupted, Some(signal)) => {
            tell!("stopped by {}: {kept}", signal.name());
            tell!("help: {again}");
            Ok(signal.exit_code())
        }
        (None, ..) => Ok(ExitCode::SUCCESS),
    }
}
