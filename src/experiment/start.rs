//! What a run takes from files before its first round. Its checkpoints have it, so that the run goes on without
//! these files.

use std::path::{Path, PathBuf};

use fedround_models::{Leaf, LoadReport, Weights};
use fedround_simulation::{CheckpointError, ServerStateError, Simulation};
use fedround_store::{Archive, ArchiveError, TensorBytes};
use serde::{Deserialize, Serialize};

use super::ExperimentError;

const PART: &str = "run/start";

/// What a run has taken from files.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Start {
    /// From the file of weights, where there is one.
    weights: Option<TakenWeights>,
    /// The names of the states of the server that were taken from a checkpoint of another run.
    pub server_states: Vec<String>,
}

/// What was taken from a file of weights.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct TakenWeights {
    file: PathBuf,
    #[serde(with = "LoadReportFields")]
    report: LoadReport,
    /// The values of the leaves that were loaded, in the order of the report.
    values: Vec<TensorBytes>,
}

/// The fields of a [`LoadReport`] in a checkpoint.
#[derive(Deserialize, Serialize)]
#[serde(remote = "LoadReport")]
struct LoadReportFields {
    loaded: Vec<String>,
    drawn: Vec<String>,
    left_over: Vec<String>,
}

impl Start {
    /// Takes what a run needs of its files: the weights' values of these leaves, and the states of the server.
    pub fn from_files(
        simulation: &mut Simulation,
        (weights, leaves): (Option<&Weights>, &[Leaf]),
        server_state: Option<&Path>,
    ) -> Result<Self, ExperimentError> {
        let mut start = Self::default();
        if let Some(weights) = weights {
            start.take_weights(weights, leaves)?;
        }
        if let Some(path) = server_state {
            start.take_server_states(simulation, path)?;
        }
        Ok(start)
    }

    /// The start of the run whose checkpoint this is; `None` if the checkpoint was written before there was this part.
    pub fn saved(archive: &Archive) -> Result<Option<Self>, ExperimentError> {
        Ok(archive.find(PART).map_err(CheckpointError::from)?)
    }

    /// Adds it to a checkpoint, also if nothing was taken.
    pub fn save(&self, archive: &mut Archive) -> Result<(), ExperimentError> {
        let inserted = archive.insert(PART, self);
        Ok(inserted.map_err(CheckpointError::from)?)
    }

    /// Whether nothing was taken.
    pub fn is_empty(&self) -> bool {
        self.weights.is_none() && self.server_states.is_empty()
    }

    /// The weights that were taken.
    pub fn weights(&self) -> Result<Option<Weights>, ExperimentError> {
        self.weights.as_ref().map(TakenWeights::weights).transpose()
    }

    /// Whether the same was taken as by another run, from files at whatever paths.
    pub fn has_values_of(&self, other: &Self) -> bool {
        let same_weights = match (&self.weights, &other.weights) {
            (Some(own), Some(other)) => own.report == other.report && own.values == other.values,
            (None, None) => true,
            _ => false,
        };
        same_weights && self.server_states == other.server_states
    }

    /// Takes the weights' values of a model's leaves.
    pub fn take_weights(
        &mut self,
        weights: &Weights,
        leaves: &[Leaf],
    ) -> Result<(), ExperimentError> {
        let fitted = weights.fit(leaves)?;
        let pairs = fitted.values.iter().zip(leaves);
        let values = pairs.filter_map(|(values, leaf)| {
            Some(TensorBytes::of_floats(values.as_ref()?, &leaf.shape))
        });
        self.weights = Some(TakenWeights {
            file: weights.path().to_owned(),
            report: fitted.report,
            values: values.collect(),
        });
        Ok(())
    }

    /// Sets the states of a simulation's server to those of a checkpoint of another run.
    pub fn take_server_states(
        &mut self,
        simulation: &mut Simulation,
        path: &Path,
    ) -> Result<(), ExperimentError> {
        let read = Archive::read(path).map_err(ServerStateError::from);
        let loaded = read.and_then(|archive| simulation.load_server_states(&archive));
        self.server_states = loaded.map_err(|source| ExperimentError::ServerState {
            path: path.to_owned(),
            source,
        })?;
        Ok(())
    }

    /// Which tensors the file of weights had.
    pub fn report(&self) -> Option<&LoadReport> {
        self.weights.as_ref().map(|weights| &weights.report)
    }
}

impl TakenWeights {
    fn weights(&self) -> Result<Weights, ExperimentError> {
        let named = self.report.loaded.iter().zip(&self.values);
        let leaves = named.map(|(name, tensor)| {
            let values = tensor.floats().ok_or_else(|| ArchiveError::Content {
                part: PART.to_owned(),
                message: format!("the values of `{name}` are no floats of its shape"),
            })?;
            Ok((name.clone(), tensor.shape.clone(), values))
        });
        let leaves = leaves.collect::<Result<_, ArchiveError>>();
        let leaves = leaves.map_err(CheckpointError::from)?;
        Ok(Weights::of_leaves(self.file.clone(), leaves))
    }
}
