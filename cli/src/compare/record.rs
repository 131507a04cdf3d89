//! Reads the results of a finished run back from its folder.

use std::collections::BTreeMap;
use std::path::Path;

use fedround::experiment::{AttributeAuc, Status};
use fedround::privacy::Spent;
use fedround_metrics::progress::Point;
use serde::Deserialize;
use serde_json::Map;
use toml::{Table, Value};

use super::error::CompareError;
use super::line::{Line, Local, Score};
use crate::error::CliError;
use crate::files::{read_if_there, remove_file, remove_folder};
use crate::run::{CONFIG, FILES, MANIFEST, METRICS, Manifest, Models, SUMMARY};
use crate::settings::config::Config;
use crate::settings::difference::{FREE, difference};
use crate::terminal::tell;

/// A run that ended, by Ctrl-C or a failure too. Numbers that are not finite are absent.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Record {
    pub status: Status,
    pub error: Option<String>,
    pub seed: Option<u64>,
    pub rounds: usize,
    /// Accuracy of the models that the algorithm trains.
    pub accuracy: Option<f64>,
    #[serde(default)]
    pub accuracy_of: Models,
    pub best_accuracy: Option<f64>,
    /// Accuracy of the server's model on the test set.
    pub test_accuracy: Option<f64>,
    pub best_test_accuracy: Option<f64>,
    pub best_round: Option<usize>,
    /// The best accuracy on validation examples, if clients hold some back.
    pub validation_accuracy: Option<f64>,
    /// Accuracy on test examples of the model that was chosen on validation examples.
    pub chosen_test_accuracy: Option<f64>,
    pub local_accuracy: Option<Local>,
    pub newcomer_accuracy: Option<f64>,
    /// Accuracy of each client, by its number.
    #[serde(default)]
    pub client_accuracy: Vec<Option<f64>>,
    pub ensemble_accuracy: Option<f64>,
    /// AUC of the adversary for each protected attribute, if there were adversaries.
    #[serde(default)]
    pub adversary: Vec<AttributeAuc>,
    /// BLEU-1 to BLEU-4, if the model describes images.
    pub bleu: Option<[Option<f64>; 4]>,
    pub best_bleu: Option<f64>,
    pub vqa_accuracy: Option<f64>,
    /// Perplexity, if the model predicts next characters.
    pub perplexity: Option<f64>,
    /// Area under the ROC curve of the second of two classes, on the test set.
    pub auc: Option<f64>,
    /// The same over the clients' own test examples.
    pub local_auc: Option<Local>,
    /// Accuracy over clients for each named evaluation, by name.
    #[serde(default)]
    pub evaluations: BTreeMap<String, Local>,
    /// Accuracy for each class, by its name.
    #[serde(default)]
    pub class_accuracy: Map<String, serde_json::Value>,
    /// The last value of each number that the algorithm's server keeps, by layer and name.
    #[serde(default)]
    pub server: BTreeMap<String, Option<f64>>,
    /// Privacy spent by the whole run, if the algorithm adds noise.
    pub privacy: Option<Spent>,
    pub seconds: f64,
    pub bytes_up: u64,
    pub bytes_down: u64,
    /// Bytes sent between clients.
    #[serde(default)]
    pub bytes_across: u64,
    /// Its rounds.
    #[serde(skip)]
    pub lines: Vec<Line>,
}

impl Record {
    /// The bytes of all directions, over all rounds.
    pub fn sent(&self) -> u64 {
        self.bytes_up + self.bytes_down + self.bytes_across
    }

    /// The bytes of the round that sent most.
    pub fn most_sent(&self) -> Option<u64> {
        self.lines.iter().map(Line::sent).max()
    }

    /// A complete run of these rounds.
    #[cfg(test)]
    pub fn of_lines(lines: Vec<Line>) -> Self {
        let text = r#"{"status": "complete", "error": null, "rounds": 0, "seconds": 0, "bytes_up": 0, "bytes_down": 0}"#;
        let record: Self = serde_json::from_str(text).unwrap();
        Self { lines, ..record }
    }

    /// Reads a run's folder, for a command that trains what has not ended; `None` where no run has ended in it.
    /// Files that are not as a run left them are not believed: that is said, and the run counts as one that has
    /// not ended.
    pub fn read(dir: &Path) -> Result<Option<Self>, CliError> {
        let damaged = "the run goes on from its last good checkpoint, or starts again";
        Self::read_or(dir, damaged)
    }

    /// The same for a report, which trains nothing.
    pub fn read_to_report(dir: &Path) -> Result<Option<Self>, CliError> {
        Self::read_or(dir, "the run is left out of the report")
    }

    /// Reads a run's folder; `damaged` says what becomes of a run whose files are not believed.
    fn read_or(dir: &Path, damaged: &str) -> Result<Option<Self>, CliError> {
        let path = dir.join(SUMMARY);
        let checked = match Manifest::read(dir) {
            Ok(Some(manifest)) => manifest.check_all(dir).map_err(|error| error.to_string()),
            Ok(None) if path.exists() => Err(format!(
                "{} has a {SUMMARY} and no {MANIFEST}, which a run writes last",
                dir.display()
            )),
            Ok(None) => return Ok(None),
            Err(error) => Err(error.to_string()),
        };
        if let Err(reason) = checked {
            tell!("warning: {reason}; {damaged}");
            return Ok(None);
        }
        let Some(summary) = text(&path)? else {
            return Ok(None);
        };
        let mut record: Self = serde_json::from_str(&summary).map_err(broken(&path))?;
        let path = dir.join(METRICS);
        let mut bytes = 0;
        for line in text(&path)?.unwrap_or_default().lines() {
            let line: Line = serde_json::from_str(line).map_err(broken(&path))?;
            bytes += line.sent();
            record.lines.push(Line { bytes, ..line });
        }
        Ok(Some(record))
    }

    /// The accuracy of what the algorithm trains, in the course of its rounds: where phases train different
    /// models, of those that the last accuracy is of.
    pub fn curve(&self) -> Vec<Point> {
        self.points(|line| line.accuracy_as(self.accuracy_of))
    }

    /// The test accuracy of the server's model.
    pub fn server_curve(&self) -> Vec<Point> {
        self.points(|line| line.test_accuracy)
    }

    /// The mean over clients of the accuracy on their own test examples.
    pub fn local_curve(&self) -> Vec<Point> {
        self.points(|line| Some(line.local_accuracy.as_ref()?.mean))
    }

    /// The loss of each client at the last evaluation that knows them, by the client's number.
    pub fn client_losses(&self) -> BTreeMap<usize, f64> {
        let last = self.lines.iter().rev().map(|line| &line.clients);
        let last = last.into_iter().find(|all| !all.is_empty());
        let known = |(client, score): (&usize, &Score)| Some((*client, score.loss?));
        last.into_iter().flatten().filter_map(known).collect()
    }

    /// A quantity at the rounds that have it.
    pub fn points(&self, value: impl Fn(&Line) -> Option<f64>) -> Vec<Point> {
        let point = |line: &Line| {
            Some(Point {
                round: line.round,
                bytes: line.bytes,
                value: value(line)?,
            })
        };
        self.lines.iter().filter_map(point).collect()
    }
}

/// Keys that differ between the runs of one comparison.
const OWN: [&str; 3] = ["spec", "seed", "hyper"];

/// Which settings two runs must have in common.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Same {
    /// All that matter.
    Run,
    /// Those that all runs of a comparison share.
    Comparison,
}

/// Fails if the folder holds a run of other settings than `wanted`. With `fewer_rounds`, the run may be one that was to
/// be trained for fewer rounds.
pub(crate) fn check(
    dir: &Path,
    wanted: &Config,
    same: Same,
    fewer_rounds: bool,
) -> Result<(), CliError> {
    let path = dir.join(CONFIG);
    let Some(found) = text(&path)? else {
        return Ok(());
    };
    let found: Table = found.parse().map_err(broken(&path))?;
    let wanted = Table::try_from(wanted).map_err(broken(&path))?;
    let rounds = |table: &Table| table.get("rounds").and_then(Value::as_integer);
    let fewer = fewer_rounds && rounds(&found) < rounds(&wanted);
    let ignored = |key: &str| {
        let own = same == Same::Comparison && OWN.contains(&key);
        FREE.contains(&key) || own || (fewer && key == "rounds")
    };
    match difference(&found, &wanted, &ignored) {
        None => Ok(()),
        Some((key, found, expected)) => Err(CompareError::Other {
            dir: dir.to_owned(),
            key,
            found,
            expected,
        }
        .into()),
    }
}

/// The rounds that the run in a folder was to have; `None` where there is none.
pub(super) fn planned_rounds(dir: &Path) -> Option<usize> {
    Config::read(&dir.join(CONFIG)).ok()?.rounds
}

/// Removes the files of a run, so that it can start anew.
pub(super) fn clear(dir: &Path) -> Result<(), CliError> {
    // From the last one: the checkpoints go before the number that says whose they are. A process that is killed
    // between the two would otherwise leave them to the run that begins in this folder.
    // Before all others go what says that the run has ended.
    let first = [MANIFEST, SUMMARY];
    let all = first.iter().chain(FILES.iter().rev());
    for path in all.map(|file| dir.join(file)) {
        match path.is_dir() {
            true => remove_folder(&path)?,
            false => remove_file(&path)?,
        }
    }
    Ok(())
}

/// A file's text; `None` where there is no file.
fn text(path: &Path) -> Result<Option<String>, CliError> {
    read_if_there(path).map_err(CliError::io("read", path))
}

fn broken<E: ToString>(path: &Path) -> impl Fn(E) -> CompareError {
    |error| CompareError::Read {
        path: path.to_owned(),
        message: error.to_string().trim_end().to_owned(),
    }
}
