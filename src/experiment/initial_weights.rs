//! Weights that an experiment starts from.

use std::path::{Path, PathBuf};

use fedround_models::{Weights, WeightsError};

/// A file of weights that training starts from, in place of ones drawn from the seed. It may have a
/// part of the model's tensors, such as a backbone; the others are drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitialWeights {
    /// A run's `model.safetensors`, another safetensors file, or one that `torch.save` wrote.
    pub file: PathBuf,
    /// Rules that turn the file's names into ours, as [`Renames`](fedround_models::Renames).
    pub renames: Vec<(String, String)>,
}

impl InitialWeights {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// See [`Weights::read`].
    pub fn read(&self) -> Result<Weights, WeightsError> {
        let renames = self.renames.iter();
        let renames = renames.map(|(from, to)| (from.as_str(), to.as_str()));
        Weights::read(&self.file, &renames.collect::<Vec<_>>())
    }
}

impl From<PathBuf> for InitialWeights {
    fn from(file: PathBuf) -> Self {
        Self {
            file,
            renames: vec![],
        }
    }
}

impl From<&Path> for InitialWeights {
    fn from(file: &Path) -> Self {
        file.to_owned().into()
    }
}

impl From<&str> for InitialWeights {
    fn from(file: &str) -> Self {
        PathBuf::from(file).into()
    }
}
