//! Errors of `fedround data`, and the advice on them.

use fedround_data::{ColumnError, DataError, PartitionError};

use super::fetch::FetchError;
use crate::advice::own_data::{BROKEN, NATURAL, of_empty_column, of_own_data};

/// Why the subcommand stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DataCommandError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Partition(#[from] PartitionError),
    /// Bundled data, in which clients cannot be named, has none for a partition by groups.
    #[error(transparent)]
    Ungrouped(PartitionError),
    #[error("{source}")]
    Fetch {
        source: Box<FetchError>,
        /// How to get the files otherwise.
        by_hand: String,
    },
    #[error("expected --out FILE, the PNG file of the sheet of images")]
    NoSheet,
    #[error(
        "--out is the file of a sheet of images, and `{data}` has no images; leave it out to print the examples"
    )]
    NoImages { data: String },
}

impl From<ColumnError> for DataCommandError {
    fn from(error: ColumnError) -> Self {
        Self::Data(error.into())
    }
}

impl DataCommandError {
    /// What to do about it, where the message does not say so itself.
    pub fn help(&self) -> Option<String> {
        if let Self::Data(error) = self
            && let Some(help) = of_empty_column(error)
        {
            return Some(help);
        }
        let text = match self {
            Self::Fetch { by_hand, .. } => by_hand.as_str(),
            Self::Data(DataError::UnknownDataset { .. }) => {
                "`fedround data list` shows the datasets"
            }
            Self::Data(DataError::Own(error)) => of_own_data(error)?,
            Self::Data(DataError::Image { .. }) => BROKEN,
            // The message says it.
            Self::NoSheet | Self::NoImages { .. } | Self::Ungrouped(_) => return None,
            Self::Data(DataError::NoDirectory { .. }) => "--data-dir DIR names the data folder",
            Self::Data(
                DataError::Read { .. }
                | DataError::Column(_)
                | DataError::Augment(_)
                | DataError::Empty { .. },
            ) => return None,
            Self::Data(_) => "`fedround data fetch NAME` downloads what may be downloaded",
            Self::Partition(PartitionError::NoGroups { .. }) => NATURAL,
            Self::Partition(_) => "`fedround list partitioners` shows how to write partitions",
        };
        Some(text.to_owned())
    }
}
