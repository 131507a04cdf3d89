//! A run's settings as a TOML file.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::CliError;
use crate::faults::FaultArgs;
use crate::read_args::ReadArgs;
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

const KEYS: [&str; 42] = [
    "spec",
    "data",
    "data_dir",
    "clients",
    "partition",
    "model",
    "weights",
    "rename",
    "server_state",
    "train",
    "rounds",
    "seed",
    "partition_seed",
    "reproducible_noise",
    "delta",
    "eval_every",
    "public_share",
    "validation",
    "keep",
    "track_clients",
    "ensemble",
    "adversary",
    "beam",
    "target",
    "threads",
    "device",
    "precision",
    "convolutions",
    "exact_conv",
    "cohort_batch",
    "client_memory",
    "graphs",
    "device_data",
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

/// The key of a file's list of other files, whose settings it starts from.
const INCLUDE: &str = "include";

/// Whether a switch of `run` has this name.
pub(crate) fn is_setting(name: &str) -> bool {
    let name = name.replace('-', "_");
    KEYS.contains(&name.as_str()) && !["spec", "faults", "hyper"].contains(&name.as_str())
}

impl Config {
    /// Reads a file, over the files that it includes.
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let (text, table) = own(path)?;
        match table.contains_key(INCLUDE) {
            // An error in its text is shown in place.
            false => Self::parse(path, &text),
            true => Self::of(path, with_included(path, &mut vec![])?),
        }
    }

    /// Reads a file's text.
    pub fn parse(path: &Path, text: &str) -> Result<Self, CliError> {
        // Keys are checked before values, so that a misspelt one is named as such.
        let table: toml::Table = toml::from_str(text).map_err(broken(path))?;
        Self::known(path, &table)?;
        toml::from_str(text).map_err(broken(path))
    }

    /// The settings of a table; `path` is where it comes from.
    pub fn of(path: &Path, table: toml::Table) -> Result<Self, CliError> {
        Self::known(path, &table)?;
        table.try_into().map_err(broken(path))
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

/// A file's text, as a table too.
fn own(path: &Path) -> Result<(String, toml::Table), CliError> {
    let text = std::fs::read_to_string(path).map_err(CliError::io("read", path))?;
    let table = toml::from_str(&text).map_err(broken(path))?;
    Ok((text, table))
}

/// A file's settings over those of the files that it includes, the later ones over the earlier. `inside` are
/// the files that include it.
fn with_included(path: &Path, inside: &mut Vec<PathBuf>) -> Result<toml::Table, CliError> {
    let wrong = |message: String| CliError::Config {
        path: path.to_owned(),
        message,
    };
    let whole = path.canonicalize().map_err(CliError::io("read", path))?;
    if inside.contains(&whole) {
        return Err(wrong("the file includes itself".to_owned()));
    }
    let (_, mut table) = own(path)?;
    let included = match table.remove(INCLUDE) {
        None => vec![],
        Some(toml::Value::String(file)) => vec![file],
        Some(value) => value.try_into::<Vec<String>>().map_err(|_| {
            wrong(
                "include: expected a file or a list of files, as in include = [\"base.toml\"]"
                    .to_owned(),
            )
        })?,
    };
    inside.push(whole);
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut merged = toml::Table::new();
    for file in included {
        lay_over(&mut merged, with_included(&folder.join(file), inside)?);
    }
    inside.pop();
    lay_over(&mut merged, table);
    Ok(merged)
}

/// Replaces values; tables, such as that of hyper-parameters, are merged key by key.
fn lay_over(below: &mut toml::Table, above: toml::Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above)) => lay_over(below, above),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}

fn broken(path: &Path) -> impl Fn(toml::de::Error) -> CliError {
    |error| CliError::Config {
        path: path.to_owned(),
        message: error.to_string().trim_end().to_owned(),
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
            train: Some(String::new()),
            rounds: Some(1),
            seed: Some(1),
            partition_seed: Some(1),
            reproducible_noise: Some(true),
            delta: Some(1e-6),
            eval_every: Some(1),
            public_share: Some(0.1),
            validation: Some(0.1),
            keep: Some(String::new()),
            track_clients: Some(true),
            ensemble: Some(true),
            adversary: Some(true),
            beam: Some(1),
            target: Some(1.0),
            threads: Some(1),
            device: Some(String::new()),
            precision: Some(String::new()),
            convolutions: Some(String::new()),
            exact_conv: Some(true),
            cohort_batch: Some(String::new()),
            client_memory: Some(String::new()),
            graphs: Some(String::new()),
            device_data: Some(String::new()),
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
            reading: ReadArgs {
                resize: Some(8),
                ..ReadArgs::default()
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
