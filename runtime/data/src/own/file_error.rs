//! Errors in the contents of a user's own files.

use std::io;
use std::path::PathBuf;

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
    /// A field starts with a quote that is not closed, or that is closed only in a later row.
    #[error(
        "{}:{line}: a field begins with a quote that is not closed in its row; close it (two quotes stand for one within \
         a field)",
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
    /// A number of a table is out of range after it is scaled.
    #[error(
        "{}: column `{column}`: expected numbers that are at most 3.4e38 after scaling, found {found:e}; correct it, or \
         leave the column out",
        path.display()
    )]
    TooLarge {
        /// The training table.
        path: PathBuf,
        /// The column.
        column: String,
        /// The largest number of the column.
        found: f64,
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
