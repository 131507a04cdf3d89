//! What reproducing a table can fail with.

use fedround_data::DataError;

/// Why a table was not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReproduceError {
    #[error("unknown {what} `{name}`{}; known are: {known}", hint(.nearest.as_deref()))]
    Unknown {
        what: &'static str,
        name: String,
        nearest: Option<String>,
        known: String,
    },
    #[error("tables/{paper}.toml: {message}")]
    File { paper: String, message: String },
    #[error(transparent)]
    Data(#[from] DataError),
    #[error("nothing is left to run: every dataset of the table is missing")]
    Nothing,
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |n| format!(" (did you mean `{n}`?)"))
}

impl ReproduceError {
    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        let text = match self {
            Self::Unknown { .. } => "`fedround reproduce` lists papers and tables",
            Self::File { .. } => return None,
            Self::Data(_) => {
                "--data-dir DIR is the folder of the datasets' folders; `fedround data list` says how to get them, --skip-missing leaves out what needs one that is not there"
            }
            Self::Nothing => {
                "`fedround data list --data-dir DIR` says which datasets are there and how to get the others"
            }
        };
        Some(text.to_owned())
    }
}
