//! A run's settings as a TOML file.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::faults::FaultArgs;
use super::field_names::field_names;
use super::includes::{INCLUDE, parse_error, read_table, read_with_includes};
use super::read_args::ReadArgs;
use crate::error::CliError;
use crate::run::Track;
use fedround::Auxiliaries;
use fedround_names::nearest;

/// What a file may set. All of it is written to a run's `config.toml`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Config {
    pub spec: Option<String>,
    pub data: Option<String>,
    pub data_dir: Option<PathBuf>,
    pub clients: Option<usize>,
    pub partition: Option<String>,
    pub model: Option<String>,
    pub weights: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rename: Vec<String>,
    pub server_state: Option<bool>,
    pub train: Option<String>,
    pub rounds: Option<usize>,
    pub seed: Option<u64>,
    pub partition_seed: Option<u64>,
    pub reproducible_noise: Option<bool>,
    pub delta: Option<f64>,
    pub eval_every: Option<usize>,
    pub public_share: Option<f64>,
    pub validation: Option<f64>,
    pub keep: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub track: Vec<Track>,
    pub track_clients: Option<bool>,
    pub ensemble: Option<bool>,
    pub adversary: Option<bool>,
    pub beam: Option<usize>,
    pub target: Option<f64>,
    pub threads: Option<usize>,
    pub device: Option<String>,
    pub precision: Option<String>,
    pub convolutions: Option<String>,
    pub exact_conv: Option<bool>,
    pub cohort_batch: Option<String>,
    pub client_memory: Option<String>,
    pub graphs: Option<String>,
    pub device_data: Option<String>,
    pub checkpoint: Option<String>,
    pub augment: Option<String>,
    pub newcomer: Option<String>,
    pub on_nan: Option<String>,
    pub goal: Option<f64>,
    #[serde(default, skip_serializing_if = "FaultArgs::is_empty")]
    pub faults: FaultArgs,
    #[serde(default, skip_serializing_if = "Auxiliaries::is_empty")]
    pub aux: Auxiliaries,
    #[serde(default, skip_serializing_if = "ReadArgs::is_empty")]
    pub reading: ReadArgs,
    #[serde(default)]
    pub hyper: toml::Table,
}

/// The keys of a file: the fields of [`Config`].
fn keys() -> &'static [&'static str] {
    field_names::<Config>()
}

/// Whether a switch of `run` has this name.
pub(crate) fn is_setting(name: &str) -> bool {
    let name = name.replace('-', "_");
    keys().contains(&name.as_str()) && !["spec", "faults", "hyper"].contains(&name.as_str())
}

impl Config {
    /// Reads a file, over the files that it includes.
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let (text, table) = read_table(path)?;
        match table.contains_key(INCLUDE) {
            // An error in its text is shown in place.
            false => Self::parse(path, &text),
            true => Self::of(path, read_with_includes(path, &mut vec![])?),
        }
    }

    /// Reads a file's text.
    pub fn parse(path: &Path, text: &str) -> Result<Self, CliError> {
        // Keys are checked before values, so that a misspelt one is named as such.
        let table: toml::Table = toml::from_str(text).map_err(parse_error(path))?;
        Self::known(path, &table)?;
        toml::from_str(text).map_err(parse_error(path))
    }

    /// The settings of a table; `path` is where it comes from.
    pub fn of(path: &Path, table: toml::Table) -> Result<Self, CliError> {
        Self::known(path, &table)?;
        table.try_into().map_err(parse_error(path))
    }

    /// Whether the metrics are written in this format, too.
    pub fn tracks(&self, format: Track) -> bool {
        match format {
            Track::Clients => self.track_clients == Some(true) && self.tracks(Track::Csv),
            format => self.track.contains(&format),
        }
    }

    /// Fails with the first key that is none.
    fn known(path: &Path, table: &toml::Table) -> Result<(), CliError> {
        let known = keys();
        if let Some(key) = table.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(CliError::ConfigKey {
                path: path.to_owned(),
                key: key.clone(),
                nearest: nearest(key, known.iter().copied()),
                known: known.join(", "),
            });
        }
        Ok(())
    }

    /// The file's text.
    pub fn text(&self, path: &Path) -> Result<String, CliError> {
        let body = toml::to_string(self).map_err(|error| CliError::Config {
            path: path.to_owned(),
            message: error.to_string(),
        })?;
        Ok(format!(
            "# `fedround run --config FILE` runs this again.\n{body}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_the_fields_of_a_file() {
        for key in [
            "spec",
            "data_dir",
            "server_state",
            "faults",
            "aux",
            "reading",
            "hyper",
        ] {
            assert!(keys().contains(&key), "{key}");
        }
    }

    #[test]
    fn formats_of_metrics_are_known_by_name() {
        let read = |text: &str| Config::parse(Path::new("c.toml"), text);
        let tracked = |text: &str| Track::ALL.map(|format| read(text).unwrap().tracks(format));
        assert_eq!(tracked("track_clients = true"), [false; 3]);
        assert_eq!(tracked("track = [\"csv\"]"), [false, true, false]);
        let both = "track = [\"csv\", \"tensorboard\"]\ntrack_clients = true";
        assert_eq!(tracked(both), [true; 3]);
        let written = read(both).unwrap().text(Path::new("c.toml")).unwrap();
        assert_eq!(tracked(&written), [true; 3]);
        // The table of clients follows from the two keys.
        for none in ["cvs", "clients"] {
            let error = read(&format!("track = [\"{none}\"]")).unwrap_err();
            let error = error.to_string();
            assert!(error.contains("`tensorboard` or `csv`"), "{error}");
        }
    }

    #[test]
    fn a_misspelt_key_names_the_nearest() {
        let error = Config::parse(Path::new("c.toml"), "round = 3")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("unknown key `round` (did you mean `rounds`?)"),
            "{error}"
        );
    }

    #[test]
    fn a_value_of_the_wrong_type_is_shown_in_place() {
        let error = Config::parse(Path::new("c.toml"), "rounds = \"3\"")
            .unwrap_err()
            .to_string();
        assert!(error.contains("rounds = \"3\""), "{error}");
    }
}
