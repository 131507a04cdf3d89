//! `fedround inspect`: trains, and shows what the server sees of single clients.

mod adversary;
mod args;
mod attack;
mod measure;
mod models;
mod pictures;
mod record;
mod report;
mod specs;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, ptr};

use fedround_data::{Dataset, load};
use fedround_exec::Simulation;

pub(super) use args::InspectArgs;

use super::Cli;
use super::assets::warn;
use super::auxiliaries;
use super::error::CliError;
use super::output::print;
use super::run::{DATA_SEED, Job, next_free, slug};
use super::settings::Settings;
use record::Record;
use report::Report;

/// The file that tells that a folder is taken.
const REPORT: &str = "report.json";
const ROUNDS: &str = "rounds.csv";

/// What the measurements read.
struct Subject<'a> {
    cli: &'a Cli,
    settings: &'a Settings,
    data: &'a Dataset,
    simulation: &'a Simulation,
    record: &'a Record,
    dir: &'a Path,
}

/// Runs the subcommand.
pub(super) fn inspect(cli: &Cli, args: &InspectArgs) -> Result<ExitCode, CliError> {
    let settings = Settings::resolve(&args.settings, args.spec.as_deref(), args.seed)?;
    let algorithm = cli.algorithm(&settings.spec, &settings.hypers)?;
    let data = load(&settings.data, settings.data_dir.as_deref(), DATA_SEED)?;
    let splits = settings
        .partition
        .deal(&data, settings.clients, settings.seed)?;
    let job = Job::new(cli, &settings, &*algorithm, &data, &splits)?;
    auxiliaries::check(&settings.aux, &job.settings().aux)?;
    warn(job.program());
    let dir = folder(args, &settings)?;
    let settings = job.settings().clone();
    let mut simulation = job.into_simulation();
    let record = rounds(&mut simulation, &settings, args.quiet)?;
    let report = Report::of(
        &Subject {
            cli,
            settings: &settings,
            data: &data,
            simulation: &simulation,
            record: &record,
            dir: &dir,
        },
        args.attack,
    )?;
    let path = dir.join(REPORT);
    let text = serde_json::to_string_pretty(&report)? + "\n";
    fs::write(&path, text).map_err(CliError::io("write", path))?;
    print(&report.text(&dir))?;
    Ok(ExitCode::SUCCESS)
}

/// The folder that is written to.
fn folder(args: &InspectArgs, settings: &Settings) -> Result<PathBuf, CliError> {
    let Some(dir) = &args.out else {
        let (spec, data, seed) = (slug(&settings.spec), &settings.data, settings.seed);
        return next_free(&format!("inspect-{spec}-{data}-seed{seed}"));
    };
    let dir = dir.clone();
    if dir.join(REPORT).exists() {
        let file = REPORT;
        return Err(CliError::Taken { dir, file });
    }
    fs::create_dir_all(&dir).map_err(CliError::io("create the folder", &dir))?;
    Ok(dir)
}

/// Trains.
fn rounds(
    simulation: &mut Simulation,
    settings: &Settings,
    quiet: bool,
) -> Result<Record, CliError> {
    let mut record = Record::default();
    for round in 1..=settings.rounds {
        let stats = simulation.step_seen(|seen| record.see(seen));
        let stats = stats.map_err(|source| CliError::Run {
            source: Box::new(source),
            kept: None,
        })?;
        let program = simulation.program();
        let (now, phases) = (program.at(round), program.phases());
        let phase = phases.iter().position(|(_, p)| ptr::eq(*p, now));
        let phase = phase.map_or(1, |i| i + 1);
        record.end((phase, now), &stats)?;
        if !quiet && (round.is_multiple_of(settings.eval_every) || round == settings.rounds) {
            let total = settings.rounds;
            eprintln!("round {round}/{total}  loss {:.4}", stats.train_loss);
        }
    }
    Ok(record)
}
