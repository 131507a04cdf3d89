//! A run's settings as a TOML file.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::CliError;
use crate::faults::FaultArgs;
use crate::reading::ReadingArgs;
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
    pub rounds: Option<usize>,
    pub seed: Option<u64>,
    pub reproducible_noise: Option<bool>,
    pub delta: Option<f64>,
    pub eval_every: Option<usize>,
    pub public_share: Option<f64>,
    pub validation: Option<f64>,
    pub keep: Option<String>,
    pub ensemble: Option<bool>,
    pub adversary: Option<bool>,
    pub beam: Option<usize>,
    pub target: Option<f64>,
    pub threads: Option<usize>,
    pub device: Option<String>,
    pub precision: Option<String>,
    pub convolutions: Option<String>,
    pub cohort_batch: Option<String>,
    pub client_memory: Option<String>,
    pub graphs: Option<String>,
    pub checkpoint: Option<String>,
    pub augment: Option<String>,
    pub newcomer: Option<String>,
    pub on_nan: Option<String>,
    pub goal: Option<f64>,
    #[serde(default, skip_serializing_if = "FaultArgs::is_empty")]
    pub faults: FaultArgs,
    #[serde(default, skip_serializing_if = "Auxiliaries::is_empty")]
    pub aux: Auxiliaries,
    #[serde(default, skip_serializing_if = "ReadingArgs::is_empty")]
    pub reading: ReadingArgs,
    #[serde(default)]
    pub hyper: toml::Table,
}

const KEYS: [&str; 37] = [
    "spec",
    "data",
    "data_dir",
    "clients",
    "partition",
    "model",
    "weights",
    "rename",
    "server_state",
    "rounds",
    "seed",
    "reproducible_noise",
    "delta",
    "eval_every",
    "public_share",
    "validation",
    "keep",
    "ensemble",
    "adversary",
    "beam",
    "target",
    "threads",
    "device",
    "precision",
    "convolutions",
    "cohort_batch",
    "client_memory",
    "graphs",
    "checkpoint",
    "augment",
    "newcomer",
    "on_nan",
    "goal",
    "faults",
    "aux",
    "reading",
    "hyper",
];

impl Config {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let text = std::fs::read_to_string(path).map_err(CliError::io("read", path))?;
        Self::parse(path, &text)
    }

    /// Reads a file's text.
    pub fn parse(path: &Path, text: &str) -> Result<Self, CliError> {
        let broken = |error: toml::de::Error| CliError::Config {
            path: path.to_owned(),
            message: error.to_string().trim_end().to_owned(),
        };
        // Keys are checked before values, so that a misspelt one is named as such.
        let table: toml::Table = toml::from_str(text).map_err(broken)?;
        Self::known(path, &table)?;
        toml::from_str(text).map_err(broken)
    }

    /// The settings of a table; `path` is where it comes from.
    pub fn of(path: &Path, table: toml::Table) -> Result<Self, CliError> {
        Self::known(path, &table)?;
        table
            .try_into()
            .map_err(|error: toml::de::Error| CliError::Config {
                path: path.to_owned(),
                message: error.to_string().trim_end().to_owned(),
            })
    }

    /// Fails with the first key that is none.
    fn known(path: &Path, table: &toml::Table) -> Result<(), CliError> {
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(CliError::ConfigKey {
                path: path.to_owned(),
                key: key.clone(),
                nearest: nearest(key, KEYS),
                known: KEYS.join(", "),
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
    fn keys_are_all_fields() {
        let config = Config {
            spec: Some(String::new()),
            data: Some(String::new()),
            data_dir: Some(PathBuf::new()),
            clients: Some(1),
            partition: Some(String::new()),
            model: Some(String::new()),
            weights: Some(PathBuf::new()),
            rename: vec![String::new()],
            server_state: Some(true),
            rounds: Some(1),
            seed: Some(1),
            reproducible_noise: Some(true),
            delta: Some(1e-6),
            eval_every: Some(1),
            public_share: Some(0.1),
            validation: Some(0.1),
            keep: Some(String::new()),
            ensemble: Some(true),
            adversary: Some(true),
            beam: Some(1),
            target: Some(1.0),
            threads: Some(1),
            device: Some(String::new()),
            precision: Some(String::new()),
            convolutions: Some(String::new()),
            cohort_batch: Some(String::new()),
            client_memory: Some(String::new()),
            graphs: Some(String::new()),
            checkpoint: Some(String::new()),
            augment: Some(String::new()),
            newcomer: Some(String::new()),
            on_nan: Some(String::new()),
            goal: Some(1.0),
            faults: FaultArgs {
                dropout: Some(0.1),
                ..FaultArgs::default()
            },
            aux: Auxiliaries::from([Default::default()]),
            reading: ReadingArgs {
                resize: Some(8),
                ..ReadingArgs::default()
            },
            hyper: toml::Table::new(),
        };
        let table = toml::Table::try_from(&config).unwrap();
        let mut keys = KEYS;
        keys.sort_unstable();
        let mut found: Vec<&String> = table.keys().collect();
        found.sort_unstable();
        assert_eq!(found, keys);
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
