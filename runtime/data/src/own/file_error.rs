//! Errors in the contents of a user's own files.
//!
//! The readers of formats serve published datasets too, and say of a damaged file that one gets it again. A
//! user's own file is corrected instead, so [`of_own_file`] gives these errors the words that help there.

use std::io;
use std::path::PathBuf;

use super::OwnDataError;
use crate::{DataError, RecordError};

/// What is wrong in a user's own file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OwnFileError {
    /// A row has too few or too many fields.
    #[error(
        "{}:{line}: expected {expected} fields, as in the first line, found {found}; correct this line (a field that \
         contains the separator needs quotes)",
        path.display()
    )]
    Fields {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The number of columns.
        expected: usize,
        /// The number of fields.
        found: usize,
    },
    /// A field starts with a quote that is not closed on its line.
    #[error(
        "{}:{line}: a field begins with a quote that is not closed on this line; close it, or remove line ends from the field",
        path.display()
    )]
    Quote {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
    },
    /// The bytes of a line are not UTF-8.
    #[error("{}:{line}: expected UTF-8 text, found other bytes; save the file as UTF-8", path.display())]
    Utf8 {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
    },
    /// A JSON file is malformed, breaks off or has other fields.
    #[error("{}: expected the JSON of LEAF, found another text: {source}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What the parser says, with line and column.
        source: serde_json::Error,
    },
    /// A gzip file unpacks to far more than its size.
    #[error(
        "{}: expected a file that unpacks to at most {limit} bytes, found more; unpack it first, if it is meant to be so large",
        path.display()
    )]
    Unpacked {
        /// The file.
        path: PathBuf,
        /// The largest number of unpacked bytes that is accepted.
        limit: u64,
    },
    /// A gzip file is damaged.
    #[error(
        "{}: expected a whole gzip file, found damage after {found} unpacked bytes ({source}); pack it again",
        path.display()
    )]
    Gzip {
        /// The file.
        path: PathBuf,
        /// The number of bytes that could be unpacked.
        found: u64,
        /// The error of the decoder.
        source: io::Error,
    },
    /// A file of NumPy is damaged, or holds something else.
    #[error("{}: expected {expected}, found {found}", path.display())]
    Array {
        /// The file, with the name of the array in an archive.
        path: PathBuf,
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
    /// A file of Parquet is damaged, or holds something else than a table.
    #[error("{}: expected a Parquet file of numbers and texts, found {found}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What was found.
        found: String,
    },
    /// A file of LEAF has other contents.
    #[error("{}: user `{user}`: expected {expected}, found {found}", path.display())]
    Leaf {
        /// The file.
        path: PathBuf,
        /// The user.
        user: String,
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
}

impl From<OwnFileError> for DataError {
    fn from(error: OwnFileError) -> Self {
        OwnDataError::File(error).into()
    }
}

/// The error of reading a user's own file, in words that help there.
pub(super) fn of_own_file(error: impl Into<DataError>) -> DataError {
    let error = match error.into() {
        DataError::Record(RecordError::Fields {
            path,
            line,
            expected,
            found,
        }) => OwnFileError::Fields {
            path,
            line,
            expected,
            found,
        },
        DataError::Record(RecordError::Quote { path, line }) => OwnFileError::Quote { path, line },
        DataError::Record(RecordError::Utf8 { path, line }) => OwnFileError::Utf8 { path, line },
        DataError::Record(RecordError::Json { path, source }) => {
            OwnFileError::Json { path, source }
        }
        DataError::Unpacked { path, limit, .. } => OwnFileError::Unpacked { path, limit },
        DataError::Gzip {
            path,
            found,
            source,
            ..
        } => OwnFileError::Gzip {
            path,
            found,
            source,
        },
        other => return other,
    };
    error.into()
}
