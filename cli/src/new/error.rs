//! Errors of `fedround new`.

use std::path::PathBuf;

/// Why `fedround new` wrote nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NewError {
    #[error(
        "`{0}` is no name of a crate: expected lower-case letters, digits and hyphens, and a letter first, as in my-algorithm"
    )]
    Name(String),
    #[error("`{name}` is {what}, expected another name, such as my-{name}")]
    Taken { name: String, what: &'static str },
    #[error("{} exists already; nothing was written", .0.display())]
    Exists(PathBuf),
    #[error("--path: {} is no checkout of fedround: expected {} in it", path.display(), missing)]
    Checkout {
        path: PathBuf,
        missing: &'static str,
    },
    #[error(
        "`{base}` is in several files or needs other data than images, so it cannot be copied; those that can are {known}"
    )]
    NoCopy { base: String, known: String },
}
