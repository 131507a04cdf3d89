//! `fedround run`: compiles, trains, and keeps everything in a run folder.

mod folder;
mod interrupt;
mod local;
mod progress;
mod summary;
mod table;
mod train;

use std::process::ExitCode;
use std::time::Instant;

use fedround_data::{Dataset, load};
use fedround_dsl::Algorithm;
use fedround_exec::{Federation, Program, Simulation};
use fedround_models::Task;

use super::Cli;
use super::args::RunArgs;
use super::assets::warn;
use super::error::{self, CliError, Kept};
use super::output::print;
use super::settings::Settings;
use folder::Folder;
use local::Tests;
use progress::Progress;
use summary::{Status, Summary};
use train::{Outcome, train};

/// Synthetic data is the same for every seed of a run, as real data is.
const DATA_SEED: u64 = 0;

/// Runs the subcommand.
pub(super) fn run(cli: &Cli, args: &RunArgs) -> Result<ExitCode, CliError> {
    let started = Instant::now();
    let settings = Settings::resolve(args)?;
    let algorithm = cli.algorithm(&settings.spec, &settings.hypers)?;
    if let Some(out) = &args.out {
        folder::check_free(out)?;
    }
    let config = settings.config(&*algorithm);
    let data = load(&settings.data, settings.data_dir.as_deref(), DATA_SEED)?;
    if !args.quiet {
        data.notes.iter().for_each(|note| eprintln!("note: {note}"));
    }
    let class_names = data.class_names.clone();
    let (mut simulation, tests) = prepare(cli, &settings, &*algorithm, data)?;
    let parameters = simulation.program().parameter_count();

    // Bad input is behind us: from here on there is something to keep.
    let stop = interrupt::listen();
    let folder = Folder::create(args.out.as_deref(), &settings, &config)?;
    let mut progress = Progress::new(&settings, folder.dir(), parameters, args.quiet);
    let outcome = train(
        &mut simulation,
        &tests,
        &settings,
        &folder,
        &mut progress,
        stop,
    )?;
    progress.finish();
    folder.model(&simulation.parameters())?;
    let summary = Summary::new(
        &settings,
        &config,
        &outcome,
        &class_names,
        parameters,
        folder.dir(),
        started.elapsed(),
    );
    let text = summary.text()?;
    folder.summary(&text)?;
    if args.json {
        print(&text)?;
    } else if !args.quiet {
        print(&table::text(&summary))?;
    }
    end(outcome, &folder)
}

/// Deals the data to clients, for training and for tests, and compiles the algorithm for it.
fn prepare(
    cli: &Cli,
    settings: &Settings,
    algorithm: &dyn Algorithm,
    data: Dataset,
) -> Result<(Simulation, Tests), CliError> {
    let splits = settings
        .partition
        .deal(&data, settings.clients, settings.seed)?;
    let mut examples = data.train;
    for split in &splits {
        if let Some(rotation) = split.rotation {
            examples = rotation.turned(&examples, &split.train)?;
        }
    }
    let task = Task {
        input: settings.augment.output_shape(examples.image_shape()?)?,
        classes: data.classes,
    };
    let columns = examples.columns().iter();
    let columns = columns.map(|c| (c.name().to_owned(), c.shape().to_vec()));
    let tracer = cli.tracer(&settings.model, task)?;
    let tracer = tracer.with_columns(columns.collect());
    let program = Program::compile_for(algorithm, tracer, settings.device)?;
    warn(&program);
    let tests = Tests::new(data.test, &splits)?;
    let federation = Federation {
        examples,
        parts: splits.into_iter().map(|split| split.train).collect(),
        seed: settings.seed,
    };
    let simulation = Simulation::new(program, federation, settings.threads);
    let simulation = simulation.map_err(|source| CliError::Threads {
        threads: settings.threads,
        message: source.to_string(),
    })?;
    let simulation = simulation.with_augment(settings.augment.clone());
    let simulation = simulation.with_personal(algorithm)?;
    Ok((simulation.with_cohort_batch(settings.cohort_batch), tests))
}

/// The exit code of what is now in the folder.
fn end(outcome: Outcome, folder: &Folder) -> Result<ExitCode, CliError> {
    let kept = Kept {
        rounds: outcome.rounds,
        dir: folder.dir().to_owned(),
    };
    match (outcome.failure, outcome.status) {
        (Some(source), _) => Err(CliError::Run {
            source: Box::new(source),
            kept: Some(kept),
        }),
        (None, Status::Interrupted) => {
            eprintln!("stopped by Ctrl-C: {kept}");
            Ok(ExitCode::from(error::INTERRUPTED))
        }
        (None, _) => Ok(ExitCode::SUCCESS),
    }
}
