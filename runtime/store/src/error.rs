//! Errors of reading and writing files.

use std::io;
use std::path::{Path, PathBuf};

use crate::archive_error::ArchiveError;
use crate::space;

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
    /// The disk is full, or a quota is used up.
    #[error(
        "no space left for {}: it needs {needed} bytes{}; nothing of it was kept",
        path.display(),
        free.map_or(String::new(), |free| format!(", and {free} are free"))
    )]
    NoSpace {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        needed: u64,
        /// The bytes that are free on its disk, where the system says so.
        free: Option<u64>,
    },
    /// An archive is damaged, or holds something else than expected.
    #[error("{}: {source}", path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: ArchiveError,
    },
    /// Another process uses the folder.
    #[error("{} is in use by another process: {holder}", dir.display())]
    Locked {
        /// The folder.
        dir: PathBuf,
        /// The other process: its number and its command.
        holder: String,
    },
}

impl StoreError {
    /// For `map_err`: a file could not be written. `needed` is the number of bytes of that write.
    pub fn write(path: impl AsRef<Path>, needed: u64) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |error| match space::is_full(&error) {
            true => Self::NoSpace {
                free: space::free(&path),
                path,
                needed,
            },
            false => Self::io("write", path)(error),
        }
    }

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
