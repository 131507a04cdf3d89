//! The flags `--weights`, `--rename` and `--server-state`: the values that a run starts from, and a note of
//! which were used.

use std::path::{Path, PathBuf};

use fedround::experiment::{InitialWeights, Run};
use fedround_models::{LoadReport, TORCHVISION_RESNET};
use serde::Serialize;

use super::config::Config;
use crate::error::CliError;
use crate::files::several_runs::{SeveralRuns, Wanted};
use crate::run::{CONFIG, MODEL, Manifest, last_checkpoint};
use crate::trained::kept_model;

/// The name of the rules of torchvision's ResNets.
const TORCHVISION: &str = "torchvision-resnet";

/// The file of `--weights`, in a run folder or by itself, with the rules of `--rename`.
pub(crate) fn source(
    path: Option<PathBuf>,
    rules: &[String],
) -> Result<Option<InitialWeights>, CliError> {
    let Some(path) = path else {
        return Ok(None);
    };
    let file = match path.is_dir() {
        true => {
            if let Some(found) =
                SeveralRuns::below(&path, Wanted::Model).filter(|_| !path.join(MODEL).exists())
            {
                return Err(CliError::SeveralRuns(Box::new(found)));
            }
            let (manifest, file) = (Manifest::of_trained(&path)?, path.join(MODEL));
            // Somebody's own folder may have such a file, too.
            if manifest.is_some() || path.join(CONFIG).exists() {
                kept_model::check(&path, manifest.as_ref(), MODEL)?;
                if manifest.is_none() {
                    kept_model::read(&path, &file)?;
                }
            }
            file
        }
        false => path,
    };
    let mut renames = vec![];
    for rule in rules {
        match rule.split_once('=') {
            Some((from, to)) => renames.push((from.to_owned(), to.to_owned())),
            None if rule == TORCHVISION => {
                let all = TORCHVISION_RESNET.iter();
                renames.extend(all.map(|(from, to)| ((*from).to_owned(), (*to).to_owned())));
            }
            None => return Err(CliError::Rename(rule.clone())),
        }
    }
    Ok(Some(InitialWeights { file, renames }))
}

/// The last checkpoint of the run that a file of weights is of. It must be of the same round.
pub(crate) fn server_state(weights: &InitialWeights) -> Result<PathBuf, CliError> {
    // The folder of a bare file name is empty.
    let dir = weights.file.parent().filter(|dir| *dir != Path::new(""));
    let dir = dir.unwrap_or(Path::new("."));
    let Some(found) = last_checkpoint(dir)? else {
        let dir = dir.to_owned();
        return Err(CliError::NoServerState { dir });
    };
    let config = Config::parse(&found.path, &found.state.config)?;
    let last = config.keep.is_none_or(|keep| keep == "last");
    if !last && weights.file.file_name().is_some_and(|name| name == MODEL) {
        let file = weights.file.clone();
        return Err(CliError::EarlierModel { file });
    }
    Ok(found.path)
}

/// The rules as they are given to `--rename`.
pub(crate) fn rules(weights: &InitialWeights) -> Vec<String> {
    let rules = weights.renames.iter();
    rules.map(|(from, to)| format!("{from}={to}")).collect()
}

/// What a run took from a file of weights, for `summary.json`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LoadedWeights {
    pub file: String,
    /// Tensors of the model that have the file's values.
    pub loaded: Vec<String>,
    /// Tensors of the model that the file lacks: drawn from the seed, or as their module made them.
    pub drawn: Vec<String>,
    /// Tensors of the file that the model lacks.
    pub left_over: Vec<String>,
    /// States of the server that the run's checkpoint had.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub server_states: Vec<String>,
}

impl LoadedWeights {
    /// What a run took from its file of weights, if it starts from one.
    pub fn of(run: &Run) -> Option<Self> {
        let file = run.settings().weights.as_ref()?;
        let states = run.loaded_server_states();
        Some(Self::new(file, run.loaded_weights()?, states))
    }

    fn new(weights: &InitialWeights, report: &LoadReport, states: &[String]) -> Self {
        Self {
            file: weights.file.display().to_string(),
            loaded: report.loaded.clone(),
            drawn: report.drawn.clone(),
            left_over: report.left_over.clone(),
            server_states: states.to_vec(),
        }
    }

    /// Whether the file lacks tensors of the model, or the model some of the file.
    pub fn is_partial(&self) -> bool {
        !self.drawn.is_empty() || !self.left_over.is_empty()
    }

    /// The same for people.
    pub fn note(&self) -> String {
        let all = self.loaded.len() + self.drawn.len();
        let list = |what: &str, names: &[String]| match names {
            [] => String::new(),
            names => format!("; {what}: {}", names.join(", ")),
        };
        format!(
            "{} of the model's {all} tensors come from {}{}{}{}",
            self.loaded.len(),
            self.file,
            list("as in a new model", &self.drawn),
            list("left over in the file", &self.left_over),
            list("states of the server", &self.server_states),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_pairs_or_a_set_with_a_name() {
        let file = || Some(PathBuf::from("a.pt"));
        let rules = |text: &str| source(file(), &[text.to_owned()]);
        let one = rules("^fc=head").unwrap().unwrap();
        assert_eq!(one.renames, [("^fc".to_owned(), "head".to_owned())]);
        let all = rules(TORCHVISION).unwrap().unwrap();
        assert_eq!(all.renames.len(), TORCHVISION_RESNET.len());
        assert!(
            rules("torchvision")
                .unwrap_err()
                .to_string()
                .contains("`torchvision`")
        );
        assert!(source(None, &["x".to_owned()]).unwrap().is_none());
    }

    #[test]
    fn a_note_names_what_was_not_loaded() {
        let report = LoadReport {
            loaded: vec!["features.fc1.weight".into()],
            drawn: vec!["head.weight".into()],
            left_over: vec!["fc.weight".into()],
        };
        let note = LoadedWeights::new(&"a.pt".into(), &report, &[]).note();
        let expected = "1 of the model's 2 tensors come from a.pt; as in a new model: head.weight; left over in the file: fc.weight";
        assert_eq!(note, expected);
    }
}
