//! Metrics in the formats of other programs, written as rounds end.

use std::cell::{Cell, RefCell};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use fedround_store::StoreError;
use prost::Message;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::CliError;
use crate::files::csv_bytes;

/// TensorBoard finds files by this part of their names.
pub(super) const EVENTS: &str = "events.out.tfevents.0.fedround";
pub(super) const TABLE: &str = "metrics.csv";
pub(super) const CLIENT_TABLE: &str = "clients.csv";

/// A format that metrics are written in beside `metrics.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Track {
    /// events.out.tfevents.*, a file of TensorBoard
    Tensorboard,
    /// metrics.csv, with one row for each round; with --track-clients also clients.csv
    Csv,
    /// A row for each client and each domain in each evaluation.
    #[value(skip)]
    #[serde(skip)]
    Clients,
}

impl Track {
    pub const ALL: [Self; 3] = [Self::Tensorboard, Self::Csv, Self::Clients];

    pub fn file(self) -> &'static str {
        match self {
            Self::Tensorboard => EVENTS,
            Self::Csv => TABLE,
            Self::Clients => CLIENT_TABLE,
        }
    }
}

/// A file of metrics.
pub(super) struct Tracker {
    kind: Track,
    path: PathBuf,
    file: RefCell<File>,
    /// The time of the last event.
    wall_time: Cell<f64>,
}

impl Tracker {
    /// Begins a file in a folder; one that is there is replaced.
    pub fn create(dir: &Path, kind: Track) -> Result<Self, CliError> {
        let path = dir.join(kind.file());
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).open(&path);
        let file = RefCell::new(file.map_err(CliError::io("create", &path))?);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let wall_time = Cell::new(now.unwrap_or_default().as_secs_f64());
        let this = Self {
            kind,
            path,
            file,
            wall_time,
        };
        this.write(&match kind {
            Track::Tensorboard => record(&Event {
                wall_time: this.wall_time.get(),
                file_version: Some("brain.Event:2".to_owned()),
                ..Event::default()
            }),
            Track::Csv => row(COLUMNS.iter().map(|column| (*column).to_owned()))?,
            Track::Clients => row(CLIENT_COLUMNS.map(str::to_owned).into_iter())?,
        })?;
        Ok(this)
    }

    /// Adds a round: a line of `metrics.jsonl`.
    pub fn round(&self, metric: &Value) -> Result<(), CliError> {
        self.write(&match self.kind {
            Track::Tensorboard => {
                let seconds = metric["seconds"].as_f64().unwrap_or_default();
                self.wall_time.set(self.wall_time.get() + seconds);
                record(&event(metric, self.wall_time.get()))
            }
            Track::Csv => row(COLUMNS.iter().map(|column| text(at(metric, column))))?,
            Track::Clients => client_rows(metric)?,
        })
    }

    fn write(&self, bytes: &[u8]) -> Result<(), CliError> {
        let written = self.file.borrow_mut().write_all(bytes);
        Ok(written.map_err(StoreError::write(&self.path, bytes.len() as u64))?)
    }
}

/// Paths of values in a line of metrics, the columns of the table.
const COLUMNS: [&str; 19] = [
    "round",
    "phase",
    "train_loss",
    "accuracy",
    "accuracy_of",
    "test_loss",
    "test_accuracy",
    "validation_accuracy",
    "local_accuracy/mean",
    "local_accuracy/std",
    "local_accuracy/min",
    "local_accuracy/worst_decile",
    "newcomer_accuracy",
    "bytes_up",
    "bytes_down",
    "bytes_across",
    "virtual_seconds",
    "privacy/epsilon",
    "seconds",
];

/// The columns of the table of clients; `of` is `client` or `domain`.
const CLIENT_COLUMNS: [&str; 5] = ["round", "of", "name", "accuracy", "loss"];

fn client_rows(metric: &Value) -> Result<Vec<u8>, CliError> {
    let mut rows = vec![];
    for (of, key) in [("client", "clients"), ("domain", "domains")] {
        for (name, scores) in metric[key].as_object().into_iter().flatten() {
            let [accuracy, loss] = ["accuracy", "loss"].map(|key| text(&scores[key]));
            let names = [text(&metric["round"]), of.to_owned(), name.clone()];
            rows.extend(row(names.into_iter().chain([accuracy, loss]))?);
        }
    }
    Ok(rows)
}

fn at<'v>(metric: &'v Value, path: &str) -> &'v Value {
    path.split('/').fold(metric, |value, key| &value[key])
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn row(cells: impl Iterator<Item = String>) -> Result<Vec<u8>, CliError> {
    csv_bytes(Path::new(TABLE), |writer| writer.write_record(cells))
}

/// `tensorflow.Event`: what of it scalars need.
#[derive(Clone, PartialEq, Message)]
struct Event {
    /// Seconds since 1970. TensorBoard takes the differences for the time of a run; here they are those of
    /// training, without evaluations and pauses between processes, so that a run that was resumed has
    /// the times of one that was not.
    #[prost(double, tag = "1")]
    wall_time: f64,
    #[prost(int64, tag = "2")]
    step: i64,
    #[prost(string, optional, tag = "3")]
    file_version: Option<String>,
    #[prost(message, optional, tag = "5")]
    summary: Option<Scalars>,
}

/// `tensorflow.Summary`.
#[derive(Clone, PartialEq, Message)]
struct Scalars {
    #[prost(message, repeated, tag = "1")]
    value: Vec<Scalar>,
}

#[derive(Clone, PartialEq, Message)]
struct Scalar {
    #[prost(string, tag = "1")]
    tag: String,
    /// One of several kinds of values in TensorFlow: a zero must be written, too.
    #[prost(float, optional, tag = "2")]
    simple_value: Option<f32>,
}

/// All finite numbers of a line of metrics under their paths.
fn event(metric: &Value, wall_time: f64) -> Event {
    let mut value = vec![];
    numbers(metric, "", &mut value);
    value.retain(|scalar: &Scalar| scalar.tag != "round");
    Event {
        wall_time,
        step: metric["round"].as_i64().unwrap_or_default(),
        summary: Some(Scalars { value }),
        ..Event::default()
    }
}

fn numbers(value: &Value, path: &str, found: &mut Vec<Scalar>) {
    let below = |key: &str| match path {
        "" => key.to_owned(),
        path => format!("{path}/{key}"),
    };
    match value {
        Value::Number(number) => found.push(Scalar {
            tag: path.to_owned(),
            simple_value: number.as_f64().map(|x| x as f32),
        }),
        Value::Object(fields) => {
            for (key, value) in fields {
                numbers(value, &below(key), found);
            }
        }
        Value::Array(values) if path == "class_accuracy" => {
            for (i, value) in values.iter().enumerate() {
                numbers(value, &below(&i.to_string()), found);
            }
        }
        Value::Array(_) | Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// A message in the frame of a TFRecord: its length and the masked CRC-32C of that, the message, and its
/// masked CRC-32C.
fn record(event: &Event) -> Vec<u8> {
    let data = event.encode_to_vec();
    let length = (data.len() as u64).to_le_bytes();
    let parts = [&length[..], &masked(&length), &data, &masked(&data)];
    parts.concat()
}

fn masked(bytes: &[u8]) -> [u8; 4] {
    let crc = crc32c::crc32c(bytes);
    crc.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_framed_as_tensorflow_does() {
        let version = Event {
            file_version: Some("brain.Event:2".to_owned()),
            ..Event::default()
        };
        let bytes = record(&version);
        assert_eq!(&bytes[..8], &15_u64.to_le_bytes());
        assert_eq!(&bytes[12..27], b"\x1a\x0dbrain.Event:2");
        assert_eq!(bytes.len(), 8 + 4 + 15 + 4);
        // The check value of CRC-32C, 0xe3069283, as it is masked.
        let expected = 0xe306_9283_u32.rotate_right(15).wrapping_add(0xa282_ead8);
        assert_eq!(masked(b"123456789"), expected.to_le_bytes());
    }

    #[test]
    fn zeros_are_written() {
        let line = serde_json::json!({ "round": 1, "bytes_across": 0 });
        let written = event(&line, 1.0).encode_to_vec();
        // Field 2 of four bytes, which TensorBoard takes as the sign that there is a number.
        assert!(written.ends_with(b"bytes_across\x15\0\0\0\0"));
    }

    #[test]
    fn numbers_have_paths() {
        let line = serde_json::json!({
            "round": 3, "phase": "train", "train_loss": 0.5, "test_loss": null,
            "local_accuracy": {"mean": 0.25}, "class_accuracy": [1.0, null], "late": [4],
        });
        let event = event(&line, 7.5);
        let found: Vec<(String, f32)> = event
            .summary
            .unwrap()
            .value
            .into_iter()
            .map(|v| (v.tag, v.simple_value.unwrap()))
            .collect();
        let expected = [
            ("train_loss", 0.5),
            ("local_accuracy/mean", 0.25),
            ("class_accuracy/0", 1.0),
        ];
        assert_eq!(found, expected.map(|(tag, value)| (tag.to_owned(), value)));
        assert_eq!((event.step, event.wall_time), (3, 7.5));
        assert_eq!(text(at(&line, "local_accuracy/mean")), "0.25");
        assert_eq!(text(at(&line, "privacy/epsilon")), "");
    }
}
