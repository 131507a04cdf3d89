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
mod weights;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use fedround_data::{Dataset, Examples, load};
use fedround_exec::Simulation;

pub(super) use adversary::{Exposed, PROTECTED, exposed, mean};
pub(super) use args::InspectArgs;

use super::Cli;
use super::assets::warn;
use super::auxiliaries;
use super::error::{CliError, INTERRUPTED, Kept};
use super::output::{print, tell};
use super::run::{DATA_SEED, Goal, Job, TestArgs, listen, next_free, slug};
use super::settings::Settings;
use models::failed;
use record::Record;
use report::Report;

/// The file that tells that a folder is taken.
const REPORT: &str = "report.json";
const ROUNDS: &str = "rounds.csv";
const VARIANCE: &str = "variance.csv";
const WEIGHTS: &str = "weights.csv";

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
    let tests = TestArgs::default();
    let settings = Settings::resolve(&args.settings, &tests, args.spec.as_deref(), args.seed)?;
    let algorithm = cli.algorithm(&settings.spec, &settings.hypers)?;
    let data = load(&settings.data, settings.data_dir.as_deref(), DATA_SEED)?;
    let splits = settings
        .partition
        .deal(&data, settings.clients, settings.seed)?;
    let job = Job::new(cli, &settings, &*algorithm, &data, &splits)?;
    auxiliaries::check(&settings.aux, &job.settings().aux)?;
    if args.attack {
        attack::check(&settings, &data, job.program())?;
    }
    warn(job.program());
    let dir = folder(args, &settings)?;
    let settings = job.settings().clone();
    let mut simulation = job.into_simulation();
    let stop = listen();
    let (record, stopped) = rounds(&mut simulation, &data.test, &settings, stop, args.quiet)?;
    let subject = Subject {
        cli,
        settings: &settings,
        data: &data,
        simulation: &simulation,
        record: &record,
        dir: &dir,
    };
    let mut report = Report::of(&subject, stopped)?;
    keep(&report, &dir)?;
    if stopped {
        print(&report.text(&dir))?;
        let rounds = record.rounds.len();
        tell!("stopped by Ctrl-C: {}", Kept { rounds, dir });
        return Ok(ExitCode::from(INTERRUPTED));
    }
    // What was measured is kept whatever becomes of attacks.
    let failed = match args.attack.then(|| subject.attack()) {
        Some(Ok(attacked)) => {
            report.attacked(attacked);
            keep(&report, &dir)?;
            None
        }
        Some(Err(error)) => Some(error),
        None => None,
    };
    print(&report.text(&dir))?;
    failed.map_or(Ok(ExitCode::SUCCESS), Err)
}

fn keep(report: &Report, dir: &Path) -> Result<(), CliError> {
    let path = dir.join(REPORT);
    let text = serde_json::to_string_pretty(report)? + "\n";
    fs::write(&path, text).map_err(CliError::io("write", path))
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

/// Trains until the last round or Ctrl-C, and says whether it was Ctrl-C.
fn rounds(
    simulation: &mut Simulation,
    tests: &Examples,
    settings: &Settings,
    stop: &AtomicBool,
    quiet: bool,
) -> Result<(Record, bool), CliError> {
    let mut record = Record::default();
    let (mut round, mut last) = (0, settings.rounds);
    let mut goal = Goal::of(settings);
    while round < last && !stop.load(Ordering::SeqCst) {
        let stats = simulation.run_round_observed(|seen| record.see(seen));
        let stats = stats.map_err(failed)?;
        round += 1;
        let (phase, program) = simulation.phase();
        record.end((phase + 1, program), &stats)?;
        if !round.is_multiple_of(settings.eval_every) && round < last {
            continue;
        }
        if !quiet {
            tell!("round {round}/{last}  loss {:.4}", stats.train_loss);
        }
        // As in a run, which is tested in these rounds.
        if goal.open(simulation) {
            let accuracy = simulation.evaluate(tests).map_err(failed)?.accuracy;
            let left_out = goal.reached(simulation, accuracy, last - round);
            last -= left_out.unwrap_or(0);
        }
    }
    Ok((record, round < last))
}
