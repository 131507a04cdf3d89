//! Keys and secrets that cannot be used.

use std::io;
use std::path::PathBuf;

use fedround_store::StoreError;
use thiserror::Error;

/// A key that cannot be used.
#[derive(Debug, Error)]
pub enum KeyError {
    /// The file cannot be read.
    #[error("cannot read the key {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A new key cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file holds no key of a kind that Flower accepts.
    #[error(
        "{} holds no private key that can be used ({problem}): expected a key on P-256 or P-384 without a passphrase, in OpenSSH's format or in PEM",
        path.display()
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// What was found.
        problem: String,
    },
    /// The file of a coordinator's secret cannot be read.
    #[error("cannot read the secret {}: {source}", path.display())]
    SecretFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file of a coordinator's secret has no bytes.
    #[error("the secret {} is empty", path.display())]
    EmptySecret {
        /// The file.
        path: PathBuf,
    },
    /// The system has no random bytes.
    #[error("the system gives no random bytes for a key: {problem}")]
    Random {
        /// Why.
        problem: String,
    },
    /// A key cannot be written as PEM.
    #[error("cannot encode a key: {problem}")]
    Encode {
        /// Why.
        problem: String,
    },
}
