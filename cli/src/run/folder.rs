//! The run folder. A new run only ever creates files; a run that is resumed replaces its own. Only one
//! process at a time writes to it.

use std::cell::{Cell, RefCell};
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use fedround::experiment::Report;
use fedround_store::{FolderLock, StoreError, write_atomically};
use serde::Serialize;

use super::checkpoints::CHECKPOINTS;
use super::drawings;
use super::run_id::{RUN_ID, RunId};
use super::track::{CLIENT_TABLE, EVENTS, TABLE, Track, Tracker};
use crate::error::CliError;
pub(crate) use crate::files::names::CONFIG;
use crate::files::names::FEDERATION;
use crate::files::remove_file;
use crate::plot::PhaseMark;
use crate::settings::config::Config;
use crate::terminal::command_line::words;

pub(crate) const METRICS: &str = "metrics.jsonl";
pub(crate) const SUMMARY: &str = "summary.json";
/// The sizes and digests of the others.
pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const MODEL: &str = "model.safetensors";
/// How examples became the model's inputs, and the names of its classes.
pub(crate) const INPUTS: &str = "inputs.json";
/// The model of the last round, where the best one is kept beside it.
pub(super) const LAST: &str = "model-last.safetensors";
/// The adapters alone, where they were trained.
pub(super) const ADAPTERS: &str = "adapters.safetensors";
/// The folder of the clients' own models, where they have some.
pub(crate) const CLIENTS: &str = "clients";
/// The clients' models after the last round, where `clients` has those of the best one.
pub(super) const LAST_CLIENTS: &str = "clients-last";
/// Accuracies and losses over rounds.
const CURVES: &str = "curves.svg";
/// The accuracy of each class over rounds.
const CLASSES: &str = "classes.svg";
/// The states of clients that do not fit in memory.
pub(super) const STATES: &str = "clients.redb";
/// Everything that a run writes, in an order in which what comes later can be removed while the rest is there: the
/// checkpoints are the last, because [`RUN_ID`] says whose they are.
pub(crate) const FILES: [&str; 19] = [
    MANIFEST,
    CONFIG,
    RUN_ID,
    METRICS,
    SUMMARY,
    MODEL,
    INPUTS,
    LAST,
    ADAPTERS,
    CLIENTS,
    LAST_CLIENTS,
    CURVES,
    CLASSES,
    EVENTS,
    TABLE,
    CLIENT_TABLE,
    STATES,
    FEDERATION,
    CHECKPOINTS,
];

/// A folder of one run.
pub(crate) struct Folder {
    dir: PathBuf,
    run: RunId,
    metrics: RefCell<File>,
    /// The same in other formats.
    trackers: Vec<Tracker>,
    /// Whether there was a file of clients' states after the last round.
    states: Cell<bool>,
    /// Whether the run was resumed, and replaces files.
    resumed: bool,
    _lock: FolderLock,
}

/// Fails if a folder that the user named already holds a run.
pub(super) fn check_free(dir: &Path) -> Result<(), CliError> {
    let taken = |file: &&str| fs::symlink_metadata(dir.join(file)).is_ok();
    match FILES.into_iter().find(taken) {
        Some(file) => Err(CliError::Taken {
            dir: dir.to_owned(),
            file,
        }),
        None => Ok(()),
    }
}

impl Folder {
    /// Makes the folder, where there is none, and writes the configuration.
    pub fn create(dir: &Path, config: &Config) -> Result<Self, CliError> {
        check_free(dir)?;
        let lock = lock_free(dir)?;
        let path = dir.join(CONFIG);
        write_atomically(&path, &[config.text(&path)?.as_bytes()])?;
        let run = RunId::keep(dir, None)?;
        let metrics = RefCell::new(create(&dir.join(METRICS))?);
        let trackers = trackers(dir, |kind| config.tracks(kind))?;
        Ok(Self {
            dir: dir.to_owned(),
            run,
            metrics,
            trackers,
            states: Cell::new(false),
            resumed: false,
            _lock: lock,
        })
    }

    /// Opens the folder of a run that goes on after some rounds. Its configuration and its metrics
    /// become those of these rounds, also where they were damaged or deleted. An earlier end of the run
    /// no longer counts.
    pub(super) fn reopen(
        dir: &Path,
        lock: FolderLock,
        (config, run): (&Config, Option<&RunId>),
        rounds: impl Iterator<Item = impl Serialize>,
    ) -> Result<Self, CliError> {
        for file in [MANIFEST, SUMMARY] {
            remove_file(&dir.join(file))?;
        }
        let path = dir.join(CONFIG);
        write_atomically(&path, &[config.text(&path)?.as_bytes()])?;
        let run = RunId::keep(dir, run)?;
        let rounds = rounds.map(serde_json::to_value);
        let rounds: Vec<serde_json::Value> = rounds.collect::<Result<_, _>>()?;
        let lines = rounds.iter().map(line).collect::<Result<String, _>>()?;
        // A process that was killed at the start left the configuration alone, and earlier versions the files alone.
        let wanted = |kind: Track| config.tracks(kind) || dir.join(kind.file()).exists();
        let trackers = trackers(dir, wanted)?;
        for tracker in &trackers {
            rounds.iter().try_for_each(|round| tracker.round(round))?;
        }
        let path = dir.join(METRICS);
        write_atomically(&path, &[lines.as_bytes()])?;
        let metrics = OpenOptions::new().write(true).open(&path);
        let mut metrics = metrics.map_err(CliError::io("open", &path))?;
        let end = metrics.seek(SeekFrom::End(0));
        end.map_err(CliError::io("read", &path))?;
        Ok(Self {
            dir: dir.to_owned(),
            run,
            metrics: RefCell::new(metrics),
            trackers,
            states: Cell::new(false),
            resumed: true,
            _lock: lock,
        })
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Which run it is of.
    pub(super) fn run(&self) -> &RunId {
        &self.run
    }

    /// Appends a round; it is in the file when this returns.
    pub(super) fn metric(&self, metric: &impl Serialize) -> Result<(), CliError> {
        let line = line(metric)?;
        let written = self.metrics.borrow_mut().write_all(line.as_bytes());
        let (path, needed) = (self.dir.join(METRICS), line.len() as u64);
        written.map_err(StoreError::write(path, needed))?;
        let value = serde_json::to_value(metric)?;
        let mut trackers = self.trackers.iter();
        trackers.try_for_each(|tracker| tracker.round(&value))
    }

    /// Fails if files of the run were deleted or changed while it runs.
    pub(super) fn check(&self) -> Result<(), CliError> {
        let vanished = |file: &str| CliError::Vanished {
            path: self.dir.join(file),
        };
        let exists = |file: &str| fs::symlink_metadata(self.dir.join(file)).is_ok();
        let there = fs::metadata(self.dir.join(METRICS)).map(|file| file.len());
        let written = self.metrics.borrow_mut().stream_position();
        if !exists(CONFIG) {
            return Err(vanished(CONFIG));
        }
        // It is made when states are first written.
        if self.states.replace(exists(STATES)) && !self.states.get() {
            return Err(vanished(STATES));
        }
        match (there, written) {
            (Ok(there), Ok(written)) if there == written => Ok(()),
            _ => Err(vanished(METRICS)),
        }
    }

    /// Draws the learning curves and the accuracy of classes, where there are some.
    pub fn drawings(
        &self,
        report: &Report,
        (classes, phases): (&[String], &[PhaseMark]),
    ) -> Result<(), CliError> {
        let curves = drawings::learning_curves(report, phases)?;
        let classes = drawings::classes(report, classes)?;
        for (file, drawing) in [(CURVES, curves), (CLASSES, classes)] {
            if let Some(drawing) = drawing {
                self.write(file, drawing.as_bytes())?;
            }
        }
        Ok(())
    }

    /// Writes a file, whole or not at all.
    pub(super) fn write(&self, file: &'static str, bytes: &[u8]) -> Result<(), CliError> {
        let path = self.dir.join(file);
        if !self.resumed && fs::symlink_metadata(&path).is_ok() {
            let dir = self.dir.clone();
            return Err(CliError::Taken { dir, file });
        }
        Ok(write_atomically(&path, &[bytes])?)
    }
}

/// Removes the states of clients: of a run that has no checkpoint, or of one that need not go on.
pub(crate) fn remove_states(dir: &Path) -> Result<(), CliError> {
    remove_file(&dir.join(STATES))
}

/// Begins the files of metrics in the formats that are wanted.
fn trackers(dir: &Path, wanted: impl Fn(Track) -> bool) -> Result<Vec<Tracker>, CliError> {
    let kinds = Track::ALL.into_iter().filter(|kind| wanted(*kind));
    kinds.map(|kind| Tracker::create(dir, kind)).collect()
}

fn create(path: &Path) -> Result<File, CliError> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    file.map_err(CliError::io("create", path))
}

/// Keeps other processes out of a folder.
pub(crate) fn lock(dir: &Path) -> Result<FolderLock, CliError> {
    let command: Vec<String> = words().collect();
    Ok(FolderLock::acquire(dir, &command.join(" "))?)
}

/// Keeps other processes out of a folder that exists, so that they write nothing while it is read.
pub(crate) fn lock_if_there(dir: &Path) -> Result<Option<FolderLock>, CliError> {
    dir.is_dir().then(|| lock(dir)).transpose()
}

/// Makes the folder of a run, where there is none, and keeps other processes out of it. Fails if it holds a run:
/// another process may have begun one before the lock.
pub(crate) fn lock_free(dir: &Path) -> Result<FolderLock, CliError> {
    fs::create_dir_all(dir).map_err(CliError::io("create the folder", dir))?;
    let lock = lock(dir)?;
    check_free(dir)?;
    Ok(lock)
}

/// A line of the metrics.
fn line(metric: &impl Serialize) -> Result<String, CliError> {
    Ok(serde_json::to_string(metric)? + "\n")
}
