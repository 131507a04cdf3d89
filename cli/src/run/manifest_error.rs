//! Errors of a run folder whose files are not those of its manifest.

use std::path::PathBuf;

/// A run folder is not as the run left it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ManifestError {
    #[error("cannot read {}: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{}: expected the sizes and digests of a run's files: {message}", path.display())]
    Content { path: PathBuf, message: String },
    #[error(
        "{} has version {found} of the format, and this program reads version {expected}", path.display()
    )]
    Version {
        path: PathBuf,
        expected: u32,
        found: u32,
    },
    #[error("{} is missing; the run left {size} bytes there", path.display())]
    Missing { path: PathBuf, size: u64 },
    #[error("{} has {found} bytes, and the run left {expected} there", path.display())]
    Size {
        path: PathBuf,
        expected: u64,
        found: u64,
    },
    #[error(
        "{} was changed after the run: its SHA-256 begins with {}, expected {}",
        path.display(), start(found), start(expected)
    )]
    Digest {
        path: PathBuf,
        expected: String,
        found: String,
    },
    #[error("the run left no file {}: its manifest does not list it", path.display())]
    Unlisted { path: PathBuf },
}

/// The first digits of a digest: enough to compare by eye.
fn start(digest: &str) -> &str {
    digest.get(..8).unwrap_or(digest)
}
