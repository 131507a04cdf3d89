//! The subcommand `fedround inspect`: trains, and shows what the server sees of single clients.

mod args;
mod attack;
mod leakage;
mod mean_weights;
mod observations;
mod pictures;
mod report;
mod section;
mod subject;
mod traffic;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fedround::experiment::{self, Observer, Status};
use fedround_metrics::MetricError;
use fedround_simulation::{ServerObservation, Simulation};

pub(crate) use args::InspectArgs;

use crate::catalog::Catalog;
use crate::compile::compilation::warn;
use crate::error::{CliError, KeptRounds};
use crate::files::{json, write_text};
use crate::run::{TestArgs, next_free, slug};
use crate::settings::Settings;
use crate::terminal::interrupt::{listen, signal, stop_requested};
use crate::terminal::{loss, print, tell};
use observations::Observations;
use report::Report;
use subject::Subject;

/// The file that tells that a folder is taken.
const REPORT: &str = "report.json";

pub(crate) fn inspect(catalog: &Catalog, args: &InspectArgs) -> Result<ExitCode, CliError> {
    let tests = TestArgs::default();
    let given = args.settings.of_experiments();
    let settings = Settings::resolve(&given, &tests, args.spec.as_deref(), args.seed)?;
    let mut settings = settings.fitted(catalog)?;
    // Both are measured of a whole run; adversaries are part of every report here.
    (settings.run.ensemble, settings.run.adversary) = (false, false);
    catalog.algorithm(&settings.spec, &settings.hypers)?;
    let data = settings.load()?;
    let mut run = catalog
        .experiment(&settings, data)?
        .prepare(settings.rounds)?;
    if args.attack {
        attack::check(&settings.spec, &run)?;
    }
    warn(run.program());
    let uses = catalog.uses(&settings, &run)?.told();
    uses.check(&settings.spec)?;
    let dir = folder(args, &settings)?;
    listen();
    let mut watcher = Watcher {
        observations: Observations::default(),
        quiet: args.quiet,
        last: settings.rounds,
        failed: None,
    };
    let trained = run.train(&mut watcher)?;
    if let Some(error) = watcher.failed {
        return Err(error.into());
    }
    let stopped = trained.status == Status::Interrupted;
    let subject = Subject {
        spec: &settings.spec,
        run: &run,
        observations: &watcher.observations,
        dir: &dir,
    };
    let mut report = Report::of(&subject, stopped)?;
    keep(&report, &dir)?;
    let show = |report: &Report| {
        print(&match args.json {
            true => json(report)?,
            false => report.text(&dir),
        })
    };
    if let Some(signal) = signal().filter(|_| stopped) {
        show(&report)?;
        let rounds = trained.rounds();
        let kept = KeptRounds {
            rounds,
            dir: dir.clone(),
        };
        tell!("stopped by {}: {kept}", signal.name());
        return Ok(signal.exit_code());
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
    show(&report)?;
    failed.map_or(Ok(ExitCode::SUCCESS), Err)
}

fn keep(report: &Report, dir: &Path) -> Result<(), CliError> {
    write_text(&dir.join(REPORT), &json(report)?)
}

/// The folder that is written to.
fn folder(args: &InspectArgs, settings: &Settings) -> Result<PathBuf, CliError> {
    let Some(dir) = &args.out else {
        let (spec, data, seed) = (
            slug(&settings.spec),
            settings.data.name(),
            settings.run.seed,
        );
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

/// Keeps what the server has of clients, and shows the rounds.
struct Watcher {
    observations: Observations,
    quiet: bool,
    /// The number of the last round.
    last: usize,
    failed: Option<MetricError>,
}

impl Observer for Watcher {
    fn stop_requested(&mut self) -> bool {
        self.failed.is_some() || stop_requested()
    }

    fn round_finished(&mut self, report: &experiment::Report, simulation: &Simulation) {
        let Some(round) = report.history.last() else {
            return;
        };
        let (phase, program) = simulation.phase();
        self.failed = self.observations.end((phase + 1, program), round).err();
        if round.scores.is_some() && !self.quiet {
            let (number, last) = (round.number, self.last);
            let line = format!("round {number}/{last}  {}", loss(round.train_loss));
            tell!("{}", line.trim_end());
        }
    }

    fn goal_reached(&mut self, left_out: usize) {
        self.last -= left_out;
    }

    fn observes_server(&self) -> bool {
        true
    }

    fn observe(&mut self, value: ServerObservation) {
        self.observations.see(value);
    }
}
