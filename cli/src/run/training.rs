//! Trains one run into a folder. `run` calls it once, `compare` and `reproduce` for each of their cells.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fedround::experiment::{ExperimentError, Run, privacy_spent};
#[cfg(feature = "flower")]
use fedround::federation::Terms;
use fedround::privacy::{delta_text, smaller_delta};
use fedround_data::{DataDigest, Dataset, InputEncoding};
use fedround_exec::Program;
use fedround_simulation::Simulation;
#[cfg(feature = "flower")]
use fedround_simulation::parties::Parties;
use fedround_store::Archive;

use super::checkpoint_every::CheckpointEvery;
use super::checkpoints::{Checkpoints, CommandState};
use super::ended::{Ended, interrupted, is_stop};
use super::folder::{CONFIG, Folder, INPUTS, STATES, SUMMARY};
use super::manifest::Manifest;
use super::metric::Metric;
use super::models;
use super::phases::{phase, phase_marks};
use super::progress::Progress;
use super::recorder::Recorder;
use super::summary::Summary;
use crate::catalog::Catalog;
use crate::config::Config;
use crate::dead_hypers::Uses;
use crate::error::CliError;
use crate::files::json;
use crate::interrupt::stop_requested;
use crate::settings::Settings;
use crate::weights::LoadedWeights;

/// A run that can start: its input has been checked, and its algorithm compiled.
pub(crate) struct Job {
    /// With all auxiliary networks that are used.
    settings: Settings,
    config: Config,
    /// As it was read. The run may have set some of its examples aside.
    data: Arc<Dataset>,
    run: Run,
}

impl Job {
    /// Compiles the algorithm for a dataset.
    pub fn new(
        catalog: &Catalog,
        settings: &Settings,
        data: Arc<Dataset>,
    ) -> Result<Self, CliError> {
        Self::to_restore(catalog, settings, data, None)
    }

    /// The same of a run that is then restored from a checkpoint, where there is one. The checkpoint has what
    /// the run took from other files.
    pub(crate) fn to_restore(
        catalog: &Catalog,
        settings: &Settings,
        data: Arc<Dataset>,
        checkpoint: Option<&Archive>,
    ) -> Result<Self, CliError> {
        let algorithm = catalog.algorithm(&settings.spec, &settings.hypers)?;
        let experiment = catalog.experiment(settings, data.clone())?;
        let rounds = settings.rounds;
        let run = match checkpoint {
            Some(archive) => experiment.prepare_to_restore(rounds, archive)?,
            None => experiment.prepare(rounds)?,
        };
        Ok(Self {
            config: settings.config(&*algorithm),
            settings: Settings {
                run: run.settings().clone(),
                ..settings.clone()
            },
            data,
            run,
        })
    }

    /// The settings as a file.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The settings, with all auxiliary networks that are used.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What the run took from a file of weights, where it starts from one.
    pub fn loaded_weights(&self) -> Option<LoadedWeights> {
        LoadedWeights::of(&self.run)
    }

    /// What to say of a `δ` that is large for the number of examples.
    pub fn delta_warning(&self) -> Option<String> {
        let own = &self.run.simulation().dataset().client_indices;
        let examples = own.iter().map(Vec::len).sum();
        let delta = self.settings.run.delta;
        let smaller = smaller_delta(self.program(), delta, examples)?;
        let delta = delta_text(delta);
        Some(format!(
            "δ = {delta} is not below 1/N of N = {examples} examples, and allows that some of them is told outright; --delta {smaller:e} does not"
        ))
    }

    /// What the hyper-parameters of the command line do.
    pub fn uses(&self, catalog: &Catalog) -> Result<Uses, CliError> {
        catalog.uses(&self.settings, &self.run)
    }

    /// What is compiled.
    pub fn program(&self) -> &Program {
        self.run.program()
    }

    /// Goes to where the run was when a checkpoint was written.
    pub(crate) fn restore(&mut self, archive: &Archive) -> Result<(), CliError> {
        Ok(self.run.restore(archive)?)
    }

    /// Writes a checkpoint of where the run is, unless it is to have none: with settings that are no
    /// longer those of the last one, so that going on after a crash keeps them.
    pub(super) fn save(&self, folder: &Folder, clock: Clock) -> Result<(), CliError> {
        let (dir, every) = (folder.dir(), self.settings.checkpoint);
        if every == CheckpointEvery::Off {
            return Ok(());
        }
        save(self, &mut Checkpoints::new(dir, every, 0), folder, clock)
    }

    /// Keeps clients' states in a file of a run folder.
    pub(crate) fn keep_clients(&mut self, dir: &Path) -> Result<(), CliError> {
        Ok(self.run.set_client_store(dir.join(STATES))?)
    }

    /// The simulation: untrained, or as the last round left it.
    pub(crate) fn simulation(&self) -> &Simulation {
        self.run.simulation()
    }

    /// Checks that the program can run between a server and parties, and gives its hash.
    #[cfg(feature = "flower")]
    pub(crate) fn check_parties(&self) -> Result<String, CliError> {
        for (_, phase) in self.program().phases() {
            phase.parties()?;
        }
        Ok(self.run.simulation().graph_hash()?)
    }

    /// What parties must have alike beside the program.
    #[cfg(feature = "flower")]
    pub(crate) fn terms(&self) -> Terms {
        Terms::of(&self.run, false)
    }

    /// Runs the code of clients at parties, which may send sums over clients.
    #[cfg(feature = "flower")]
    pub(crate) fn with_parties(
        self,
        parties: Box<dyn Parties>,
        session: u64,
        sums: bool,
    ) -> Result<Self, CliError> {
        let run = self.run.with_parties(parties, session)?;
        let run = run.with_partial_sums(sums);
        Ok(Self { run, ..self })
    }

    /// Lines of the metrics until now.
    pub(super) fn metrics(&self) -> impl Iterator<Item = Metric> {
        let (report, inputs) = (self.run.report(), self.run.privacy_inputs());
        report.history.iter().enumerate().map(move |(i, round)| {
            let goal = report.goal_round.filter(|goal| *goal < round.number);
            let until = &report.history[..=i];
            let spent = privacy_spent(self.run.program(), inputs, until, goal);
            let phase = phase(self.run.program(), round.number, report.goal_round);
            Metric::of(round, phase, spent.as_ref())
        })
    }

    /// The rounds that are complete, and those that are left.
    pub(super) fn rounds(&self) -> (usize, usize) {
        (self.run.report().rounds(), self.run.rounds_left())
    }

    /// Trains the rounds that are left, and writes everything to the folder. A round that fails ends
    /// the run; the rounds before it are in the folder like those of any other run.
    pub fn train(
        mut self,
        folder: &Folder,
        progress: &mut Progress,
        clock: Clock,
    ) -> Result<(Summary, Option<ExperimentError>), CliError> {
        let mut recorder = Recorder {
            privacy_inputs: self.run.privacy_inputs(),
            folder,
            progress,
            untrained: false,
            failed: None,
        };
        let (dir, every) = (folder.dir(), self.settings.checkpoint);
        // It may take long, the first time, and is no cost of the first checkpoint.
        DataDigest::of(self.run.data());
        let mut checkpoints = Checkpoints::new(dir, every, self.run.report().rounds());
        let trained = train(&mut self, &mut recorder, &mut checkpoints, clock);
        // Of a run that was stopped, the next process tells the parties.
        if trained.is_ok()
            && self.run.rounds_left() == 0
            && let Err(error) = self.run.settle_parties()
        {
            let text = format!("parties were not told that the last round is kept: {error}");
            recorder.progress.warn(&text);
        }
        let ended = match (trained, recorder.failed) {
            (_, Some(error)) | (Err(Ended::Command(error)), None) => return Err(error),
            (Ok(()), None) => self.run.finish().or_else(interrupted),
            (Err(Ended::Run(error)), None) => Err(self.run.fail(error)),
        };
        let (report, failure) = match ended {
            Ok(report) => (report, None),
            Err(ExperimentError::Training { source, report }) => (*report, Some(*source)),
            Err(error) => return Err(error.into()),
        };
        let (simulation, keep) = (self.run.simulation(), self.settings.run.keep);
        if report.trained() {
            models::write(folder, simulation, &report, (keep, failure.is_none()))?;
            let encoding = InputEncoding {
                data: Some(DataDigest::of(&self.data)),
                ..InputEncoding::of(&self.data)
            };
            folder.write(INPUTS, json(&encoding)?.as_bytes())?;
        }
        let phases = phase_marks(self.run.program(), &report);
        folder.drawings(&report, (&self.run.data().class_names, &phases))?;
        let ended = (&report, failure.as_ref());
        let of = (&self.settings, &self.config, &self.run);
        let times = (clock.total(), checkpoints.seconds());
        let summary = Summary::new(of, ended, folder.dir(), times);
        folder.write(SUMMARY, json(&summary)?.as_bytes())?;
        Manifest::write(folder.dir())?;
        Ok((summary, failure))
    }
}

/// How long a run takes, with the processes before this one.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    pub started: Instant,
    pub before: Duration,
}

impl Clock {
    /// Of a run that begins now.
    pub fn start() -> Self {
        Self {
            started: Instant::now(),
            before: Duration::ZERO,
        }
    }

    fn total(self) -> Duration {
        self.before + self.started.elapsed()
    }
}

/// Trains until the last round, a signal or an error. However it ends, there is a checkpoint of the
/// last complete round, unless that cannot be written.
fn train(
    job: &mut Job,
    recorder: &mut Recorder<'_>,
    checkpoints: &mut Checkpoints,
    clock: Clock,
) -> Result<(), Ended> {
    let folder = recorder.folder;
    let mut ended = Ok(());
    while ended.is_ok() && recorder.failed.is_none() && !stop_requested() {
        match job.run.step(recorder) {
            Ok(true) => {}
            Ok(false) => break,
            // As if the round had not begun.
            Err(error) if is_stop(&error) => {}
            Err(error) => ended = Err(Ended::of(error)),
        }
        recorder.failed = recorder.failed.take().or(recorder.folder.check().err());
        let round = job.run.report().rounds();
        if ended.is_ok()
            && checkpoints.due(round)
            && let Err(error) = save(job, checkpoints, folder, clock)
        {
            // Of a folder that was deleted meanwhile, the checkpoint at the end makes a new one.
            let deleted = recorder.failed.take().or(folder.check().err());
            recorder.failed = Some(deleted.ok_or(error)?);
        }
    }
    if checkpoints.due_at_end(job.run.report().rounds()) {
        let saved = save(job, checkpoints, folder, clock);
        // The first error is the one that counts.
        if ended.is_ok() && recorder.failed.is_none() {
            saved?;
        }
    }
    ended
}

fn save(
    job: &Job,
    checkpoints: &mut Checkpoints,
    folder: &Folder,
    clock: Clock,
) -> Result<(), CliError> {
    let state = CommandState {
        run: folder.run().clone(),
        config: job.config.text(&folder.dir().join(CONFIG))?,
        seconds: clock.total().as_secs_f64(),
    };
    let round = job.run.report().rounds();
    checkpoints.write(round, || Ok(job.run.save()?), &state)
}
