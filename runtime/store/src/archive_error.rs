//! Errors of reading and writing archives.

/// Bytes are no archive, or an archive lacks what was looked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The file does not begin as archives do.
    #[error("expected an archive of fedround, found a file that does not begin as one")]
    Magic,
    /// A later version of fedround wrote it.
    #[error(
        "it has version {found} of the format, and this program reads up to version {newest}; use the version of fedround that wrote it, or a later one"
    )]
    Version {
        /// The file's version.
        found: u32,
        /// The newest one that is known here.
        newest: u32,
    },
    /// The file is shorter or longer than it says.
    #[error("expected {expected} bytes, found {found}: the file is incomplete or was changed")]
    Length {
        /// The length that the file states.
        expected: u64,
        /// The length that it has.
        found: u64,
    },
    /// A checksum does not match.
    #[error("the checksum of its {part} does not match: the file is damaged")]
    Checksum {
        /// The table, or a part by its name.
        part: String,
    },
    /// A part is not there.
    #[error("it has no part `{part}`")]
    Missing {
        /// The part's name.
        part: String,
    },
    /// A part holds something else.
    #[error("its part `{part}` does not hold what was expected: {message}")]
    Content {
        /// The part's name.
        part: String,
        /// What was found instead.
        message: String,
    },
}
