use std::io;
use std::path::{Path, PathBuf};

/// Why a file was not fetched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    #[error(
        "this build has no downloads; build it with the feature `download`, which is a default"
    )]
    #[cfg(not(feature = "download"))]
    NotBuilt,
    #[error("`{name}` cannot be fetched: its publisher asks for a licence or gives no checksums")]
    NotPublished { name: &'static str },
    #[error("cannot reach {url}: {source}")]
    Reach {
        url: String,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("{url}: expected the file, found HTTP status {status}")]
    Status { url: String, status: u16 },
    #[error(
        "{url} breaks off after {found} bytes{}; run the command again to go on from there",
        of(*expected)
    )]
    BreaksOff {
        url: String,
        found: u64,
        expected: Option<u64>,
    },
    #[error(
        "{url} is not the published file: expected {kind} {expected}, found {found}; nothing is kept"
    )]
    Checksum {
        url: String,
        kind: &'static str,
        expected: &'static str,
        found: String,
    },
    #[error("{} is being fetched by another process; wait until that has ended", path.display())]
    Busy { path: PathBuf },
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

impl FetchError {
    /// What a failed operation on a file becomes.
    pub fn file(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::File {
            action,
            path: path.to_owned(),
            source,
        }
    }
}

fn of(expected: Option<u64>) -> String {
    expected.map_or_else(String::new, |n| format!(" of {n}"))
}
