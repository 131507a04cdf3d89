//! Trains one run into a folder. `run` calls it once, `compare` and `reproduce` for each of their cells.

use std::time::{Duration, Instant};

use fedround::experiment::ExperimentError;
use fedround_data::{DataDigest, InputEncoding};

use super::checkpoint_every::CheckpointEvery;
use super::checkpoints::{Checkpoints, CommandState};
use super::early_end::{Ended, interrupted, is_stop};
use super::folder::{CONFIG, Folder, INPUTS, SUMMARY};
use super::job::Job;
use super::manifest::Manifest;
use super::models;
use super::phases::phase_marks;
use super::progress::Progress;
use super::recorder::Recorder;
use super::summary::Summary;
use crate::error::CliError;
use crate::files::json;
use crate::terminal::interrupt::stop_requested;

impl Job {
    /// Writes a checkpoint of where the run is, unless it is to have none: with settings that are no
    /// longer those of the last one, so that going on after a crash keeps them.
    pub(super) fn save(&self, folder: &Folder, clock: Clock) -> Result<(), CliError> {
        let (dir, every) = (folder.dir(), self.settings.checkpoint);
        if every == CheckpointEvery::Off {
            return Ok(());
        }
        save(self, &mut Checkpoints::new(dir, every, 0), folder, clock)
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
    /// The clock of a run that begins now.
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
