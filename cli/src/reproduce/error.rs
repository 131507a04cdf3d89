//! Errors of `fedround reproduce`.

use fedround_names::did_you_mean;

/// Why a table was not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReproduceError {
    #[error("unknown {what} `{name}`{}; known are: {known}", did_you_mean(.nearest.as_deref()))]
    Unknown {
        what: &'static str,
        name: String,
        nearest: Option<String>,
        known: String,
    },
    #[error("tables/{paper}.toml: {message}")]
    File { paper: String, message: String },
    #[error("nothing is left to run: every dataset of the table is missing")]
    Nothing,
}

impl ReproduceError {
    /// What to do about it.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Unknown { .. } => Some("`fedround reproduce` lists papers and tables"),
            Self::File { .. } => None,
            Self::Nothing => Some(
                "`fedround data list --data-dir DIR` says which datasets are there and how to get the others",
            ),
        }
    }
}
