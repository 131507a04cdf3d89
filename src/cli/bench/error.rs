//! What can go wrong around a measurement.

use std::path::PathBuf;

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum BenchError {
    #[error("the measurement `fedround bench {line}` failed: {said}")]
    Run { line: String, said: String },
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
