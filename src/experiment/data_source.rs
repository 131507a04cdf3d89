//! Where the examples of an experiment come from.

use std::path::PathBuf;
use std::sync::Arc;

use fedround_data::Dataset;

/// The examples of an experiment.
#[derive(Clone, Debug)]
pub enum DataSource {
    /// A dataset of [`DATASETS`](fedround_data::DATASETS), by its name.
    Named {
        /// The name.
        name: String,
        /// The folder that holds the dataset's folder; generated datasets need none.
        folder: Option<PathBuf>,
    },
    /// Examples in memory.
    Loaded(Arc<Dataset>),
}

impl From<&str> for DataSource {
    fn from(name: &str) -> Self {
        Self::Named {
            name: name.to_owned(),
            folder: None,
        }
    }
}

impl From<Dataset> for DataSource {
    fn from(data: Dataset) -> Self {
        Self::Loaded(Arc::new(data))
    }
}

impl From<Arc<Dataset>> for DataSource {
    fn from(data: Arc<Dataset>) -> Self {
        Self::Loaded(data)
    }
}
