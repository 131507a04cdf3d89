//! Errors in files of records and of JSON.

use std::path::{Path, PathBuf};

/// What is wrong in a file of records or of JSON, and where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// A field has an invalid value.
    #[error("{}:{line}: {field}: expected {expected}, found `{found}`", path.display())]
    Field {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The field's name.
        field: &'static str,
        /// The valid values.
        expected: String,
        /// The value.
        found: String,
    },
    /// A record has too few or too many fields.
    #[error(
        "{}:{line}: expected {expected} fields with commas between them, found {found}; get the file again",
        path.display()
    )]
    Fields {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The number of fields of a record.
        expected: usize,
        /// The number found.
        found: usize,
    },
    /// The first line does not name the expected columns.
    #[error("{}:1: expected the header `{expected}`, found `{found}`", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// The names of the columns.
        expected: &'static str,
        /// The line.
        found: String,
    },
    /// The last line has no line end.
    #[error("{} breaks off in line {line}; get the file again", path.display())]
    BreaksOff {
        /// The file.
        path: PathBuf,
        /// The last line, from 1.
        line: u64,
    },
    /// A field starts with a quote that is not closed on its line.
    #[error("{}:{line}: a quote is not closed; get the file again", path.display())]
    Quote {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
    },
    /// The bytes of a line are not UTF-8.
    #[error("{}:{line}: expected UTF-8 text, found other bytes; get the file again", path.display())]
    Utf8 {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
    },
    /// A JSON file is malformed, breaks off or has other fields.
    #[error("{}: {source}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What the parser says, with line and column.
        source: serde_json::Error,
    },
    /// A record refers to something that does not exist.
    #[error("{}: {what} `{name}` is not in {}", path.display(), place.display())]
    Reference {
        /// The file of records.
        path: PathBuf,
        /// What is named, such as an image.
        what: &'static str,
        /// Its name.
        name: String,
        /// The file or folder that should have it.
        place: PathBuf,
    },
}

impl RecordError {
    /// The error that what a record of `path` names is not in `place`.
    pub(crate) fn reference(path: &Path, what: &'static str, name: String, place: &Path) -> Self {
        Self::Reference {
            path: path.to_path_buf(),
            what,
            name,
            place: place.to_path_buf(),
        }
    }
}
