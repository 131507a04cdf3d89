//! Errors of files.

use std::io;
use std::path::{Path, PathBuf};

/// A file could not be written or read, or does not hold what it should.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as in "write".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

impl StoreError {
    /// For `map_err`: what was tried, and with which file.
    pub fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}
