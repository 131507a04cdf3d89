//! Errors of `fedround bench`.

use std::path::PathBuf;

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    #[error("the measurement `fedround bench {line}` failed: {said}")]
    Run { line: String, said: String },
    #[error("--cohort: expected {expected} of {clients} clients in a round, but {}", drawn(spec, *found))]
    Cohort {
        spec: String,
        expected: usize,
        clients: usize,
        found: Option<usize>,
    },
    #[error("{path}: expected a benchmark report as JSON: {source}", path = path.display())]
    Peer {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("no report on task {task} in {paths}, found {found}")]
    NoPeer {
        task: &'static str,
        paths: String,
        found: String,
    },
}

fn drawn(spec: &str, found: Option<usize>) -> String {
    match found {
        Some(found) => format!("`{spec}` selects {found}"),
        None => format!("it is not known how many `{spec}` selects"),
    }
}

impl BenchError {
    /// What to do about it.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::NoPeer { .. } => Some(
                "a report has the fields that `fedround bench` prints, among them `task` and `peer`",
            ),
            Self::Cohort { .. } => Some(
                "--cohort sets `fraction` or `share` to the cohort over all clients; `fedround list specs` shows what an algorithm has, --set sets it",
            ),
            Self::Run { .. } | Self::Peer { .. } => None,
        }
    }
}
