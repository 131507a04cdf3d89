//! The run folder. Files are only ever created, never replaced.

use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use fedround::experiment::{Keep, Parameters, Report};
use fedround_ir::tensor::TensorType;
use fedround_models::{Layout, NamedValues, to_safetensors};
use serde::Serialize;

use crate::config::Config;
use crate::error::CliError;
use crate::plot::{Chart, Series, draw};

pub(crate) const CONFIG: &str = "config.toml";
pub(crate) const METRICS: &str = "metrics.jsonl";
pub(crate) const SUMMARY: &str = "summary.json";
pub(crate) const MODEL: &str = "model.safetensors";
/// The model of the last round, where the best one is kept beside it.
const LAST: &str = "model-last.safetensors";
/// The folder of the clients' own models, where they have some.
pub(crate) const CLIENTS: &str = "clients";
/// The accuracy of each class over rounds.
const CLASSES: &str = "classes.svg";
/// The states of clients that do not fit in memory.
const STATES: &str = "clients.redb";
/// Everything that a run writes.
pub(crate) const FILES: [&str; 7] = [CONFIG, METRICS, SUMMARY, MODEL, LAST, CLASSES, STATES];

/// A folder of one run.
pub(crate) struct Folder {
    dir: PathBuf,
    metrics: RefCell<File>,
}

/// Fails if a folder that the user named already holds a run.
pub(super) fn check_free(dir: &Path) -> Result<(), CliError> {
    let taken = |file: &&str| fs::symlink_metadata(dir.join(file)).is_ok();
    match FILES.into_iter().chain([CLIENTS]).find(taken) {
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
        fs::create_dir_all(dir).map_err(CliError::io("create the folder", dir))?;
        let path = dir.join(CONFIG);
        write(&path, config.text(&path)?.as_bytes())?;
        let metrics = RefCell::new(create(&dir.join(METRICS))?);
        Ok(Self {
            dir: dir.to_owned(),
            metrics,
        })
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The file of clients' states.
    pub fn clients(&self) -> PathBuf {
        self.dir.join(STATES)
    }

    /// Appends a round; it is in the file when this returns.
    pub(super) fn metric(&self, metric: &impl Serialize) -> Result<(), CliError> {
        let line = serde_json::to_string(metric)? + "\n";
        let written = self.metrics.borrow_mut().write_all(line.as_bytes());
        written.map_err(CliError::io("write", self.dir.join(METRICS)))
    }

    pub fn summary(&self, text: &str) -> Result<(), CliError> {
        write(&self.dir.join(SUMMARY), text.as_bytes())
    }

    /// Draws the accuracy of classes over rounds, a line each; nothing of no lines.
    pub fn classes(&self, lines: &[Series]) -> Result<(), CliError> {
        if lines.is_empty() {
            return Ok(());
        }
        draw(
            &self.dir.join(CLASSES),
            Chart::Shares("test accuracy"),
            lines,
        )
    }

    /// Writes the models that are to be kept, the last one of a run without any evaluation, without the
    /// tensors that are `left_out`. Gives the parameters that are in `model.safetensors`.
    pub fn models<'r>(
        &self,
        report: &'r Report,
        keep: Keep,
        left_out: &[bool],
    ) -> Result<&'r Parameters, CliError> {
        let last = &report.parameters;
        let kept = match (keep, &report.best) {
            (Keep::Last, _) | (_, None) => last,
            (Keep::Best | Keep::Both, Some(best)) => &best.parameters,
        };
        self.model(MODEL, kept, left_out)?;
        if keep == Keep::Both && report.best.is_some() {
            self.model(LAST, last, left_out)?;
        }
        Ok(kept)
    }

    /// Writes the tensors that are not left out; no file of none.
    fn model(&self, file: &str, leaves: &Parameters, left_out: &[bool]) -> Result<(), CliError> {
        let kept = leaves
            .iter()
            .zip(left_out)
            .filter(|(_, left_out)| !**left_out);
        let kept: Vec<_> = kept.map(|(leaf, _)| leaf).collect();
        match kept.is_empty() {
            true => Ok(()),
            false => save_tensors(&self.dir.join(file), &kept),
        }
    }
}

/// Writes named tensors in our own layout to a new file.
pub(super) fn save_tensors(
    path: &Path,
    leaves: &[&(String, TensorType, Vec<f32>)],
) -> Result<(), CliError> {
    let tensors = leaves.iter().map(|(name, ty, values)| NamedValues {
        name,
        shape: &ty.shape,
        values,
    });
    let bytes = to_safetensors(&tensors.collect::<Vec<_>>(), Layout::Fedround);
    let bytes = bytes.map_err(io::Error::other);
    write(path, &bytes.map_err(CliError::io("write", path))?)
}

/// `fedprox(fedavg)` as a file name.
pub(crate) fn slug(spec: &str) -> String {
    let words = spec.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}

/// Makes the folder `runs/NAME`, or `runs/NAME-2` and so on where there is one.
pub(crate) fn next_free(name: &str) -> Result<PathBuf, CliError> {
    let runs = Path::new("runs");
    fs::create_dir_all(runs).map_err(CliError::io("create the folder", runs))?;
    let mut dir = runs.join(name);
    let mut k = 2;
    // Creating is the test, so that two runs started at once do not share a folder.
    while let Err(error) = fs::create_dir(&dir) {
        if error.kind() != ErrorKind::AlreadyExists {
            return Err(CliError::io("create the folder", dir)(error));
        }
        dir = runs.join(format!("{name}-{k}"));
        k += 1;
    }
    Ok(dir)
}

fn create(path: &Path) -> Result<File, CliError> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    file.map_err(CliError::io("create", path))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    create(path)?
        .write_all(bytes)
        .map_err(CliError::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_composition_is_a_file_name() {
        assert_eq!(slug("fedprox"), "fedprox");
        assert_eq!(slug(" fedprox( fedavg ) "), "fedprox-fedavg");
    }
}
