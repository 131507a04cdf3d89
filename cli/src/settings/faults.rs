//! Clients that fail or are late: the flags, and the same as a table of `config.toml`.

use std::path::{Path, PathBuf};

use clap::Args;
use fedround_simulation::{Distribution, Faults};
use serde::{Deserialize, Serialize};

use crate::args::headings::FAULTS;
use crate::error::CliError;

/// Clients that fail or are late; a flag wins over the file.
#[derive(Args, Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FaultArgs {
    /// Probability that a client fails in a round [default: 0]
    #[arg(long, help_heading = FAULTS, value_name = "P")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropout: Option<f64>,
    /// Speeds of clients, in 10^9 floating-point operations a second: constant:X, uniform:LOW:HIGH,
    /// lognormal:MEDIAN:SIGMA or exponential:MEAN [default: computing takes no virtual time]
    #[arg(long, help_heading = FAULTS, value_name = "DIST")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<String>,
    /// Bandwidths of clients, in 10^6 bits a second, distributed likewise [default: sending takes no
    /// virtual time]
    #[arg(long, help_heading = FAULTS, value_name = "DIST")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<String>,
    /// CSV file with a column `speed`, `bandwidth` or both, and a row for each client
    #[arg(long, help_heading = FAULTS, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profiles: Option<PathBuf>,
    /// Virtual seconds after which a round ends; clients that take longer are late [default: none]
    #[arg(long, help_heading = FAULTS, value_name = "SECONDS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<f64>,
    /// Call FACTOR times as many clients as a round needs, and take the fastest [default: 1]
    #[arg(long, help_heading = FAULTS, value_name = "FACTOR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_select: Option<f64>,
    /// Skip a round if fewer of its clients are left [default: 1]
    #[arg(long, help_heading = FAULTS, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_clients: Option<usize>,
}

impl FaultArgs {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These flags over a file's settings.
    pub fn over(&self, file: Self) -> Self {
        let flags = self.clone();
        Self {
            dropout: flags.dropout.or(file.dropout),
            speed: flags.speed.or(file.speed),
            bandwidth: flags.bandwidth.or(file.bandwidth),
            profiles: flags.profiles.or(file.profiles),
            deadline: flags.deadline.or(file.deadline),
            over_select: flags.over_select.or(file.over_select),
            min_clients: flags.min_clients.or(file.min_clients),
        }
    }

    /// The same with a path that works from any folder.
    pub fn absolute(mut self) -> Self {
        let path = self.profiles.take();
        self.profiles = path.map(|path| std::path::absolute(&path).unwrap_or(path));
        self
    }

    /// What they say; the file of profiles is read.
    pub fn resolve(&self) -> Result<Faults, CliError> {
        let none = Faults::default();
        let parse = |text: &Option<String>| -> Result<Option<Distribution>, CliError> {
            Ok(text.as_deref().map(str::parse).transpose()?)
        };
        let [mut speed, mut bandwidth] = [parse(&self.speed)?, parse(&self.bandwidth)?];
        if let Some(path) = &self.profiles {
            let listed = |name| column(path, name);
            let [speeds, bandwidths] = [listed("speed")?, listed("bandwidth")?];
            if speeds.is_none() && bandwidths.is_none() {
                return Err(profiles(path, "expected a column `speed` or `bandwidth`"));
            }
            let flags = [("speed", &self.speed), ("bandwidth", &self.bandwidth)];
            for ((name, flag), column) in flags.into_iter().zip([&speeds, &bandwidths]) {
                if let (Some(flag), Some(_)) = (flag, column) {
                    let message = format!(
                        "the file has a column `{name}`, and --{name} is {flag}; expected one of the two"
                    );
                    return Err(profiles(path, message));
                }
            }
            speed = speeds.or(speed);
            bandwidth = bandwidths.or(bandwidth);
        }
        Ok(Faults {
            dropout: self.dropout.unwrap_or(none.dropout),
            speed,
            bandwidth,
            deadline: self.deadline,
            over_select: self.over_select.unwrap_or(none.over_select),
            min_clients: self.min_clients.unwrap_or(none.min_clients),
        })
    }
}

fn profiles(path: &Path, message: impl ToString) -> CliError {
    CliError::Profiles {
        path: path.to_owned(),
        message: message.to_string(),
    }
}

/// The numbers of a column; `None` where the file has no such column.
fn column(path: &Path, name: &str) -> Result<Option<Distribution>, CliError> {
    let broken = |error: csv::Error| profiles(path, error);
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_path(path)
        .map_err(broken)?;
    let mut header = reader.headers().map_err(broken)?.iter();
    let Some(at) = header.position(|column| column == name) else {
        return Ok(None);
    };
    let mut values = vec![];
    for (row, record) in reader.records().enumerate() {
        let record = record.map_err(broken)?;
        let text = record.get(at).unwrap_or_default();
        let value = text.parse::<f64>().map_err(|_| {
            let line = row + 2;
            profiles(
                path,
                format!("line {line}: expected a number as `{name}`, found `{text}`"),
            )
        })?;
        values.push(value);
    }
    Ok(Some(Distribution::Listed(values)))
}
