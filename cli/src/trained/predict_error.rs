//! The errors of `fedround predict`.

use std::fmt;
use std::path::{Path, PathBuf};

/// A run whose examples are no files, or a file that is no example.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PredictError {
    #[error(
        "`predict` does not continue texts: it takes images or rows of numbers, and model `{model}` reads characters"
    )]
    Texts { model: String },
    #[error("`{data}` needs words as well as images, and image files have no words")]
    Words { data: String },
    #[error(
        "`predict` does not take `{data}`: beside their inputs, its examples have protected attributes ({attributes}), which \
         a file of rows does not have"
    )]
    Protected { data: String, attributes: String },
    #[error(
        "{}: `{data}` is no data of images, expected a file *.npy, or a file *.csv with {numbers} numbers in a row", file.display()
    )]
    NotImages {
        file: PathBuf,
        data: String,
        numbers: usize,
    },
    #[error("{}: expected {}, found {found}", file.display(), expected(*is_table))]
    NoFile {
        file: PathBuf,
        found: Found,
        /// Whether the run was on a table.
        is_table: bool,
    },
    #[error(
        "cannot decode {} ({bytes} bytes): {message}; expected a PNG or JPEG image, a file *.npy, or a file *.csv with {numbers} \
         bytes, 0 to 255, in a row", file.display()
    )]
    Undecodable {
        file: PathBuf,
        bytes: usize,
        message: String,
        numbers: usize,
    },
}

/// What is at a path, where a file is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    Folder,
    Stream,
    StandardInput,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "no such file",
            Self::Folder => "a folder",
            Self::Stream => "a stream, such as a pipe or a terminal",
            Self::StandardInput => "standard input",
        })
    }
}

/// What a file may be.
fn expected(is_table: bool) -> &'static str {
    match is_table {
        true => "a file of rows",
        false => "a file with an image or with rows",
    }
}

impl PredictError {
    /// Fails if there is no file at a path. An image may come from a stream, and a table is read from a file.
    pub fn check(file: &Path, is_table: bool) -> Result<(), Self> {
        let found = match file.metadata() {
            Ok(found) if found.is_file() => return Ok(()),
            Ok(found) if found.is_dir() => Found::Folder,
            Ok(_) if is_table => Found::Stream,
            Err(_) if file == Path::new("-") => Found::StandardInput,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Found::Nothing,
            // What is wrong is known when it is read.
            Ok(_) | Err(_) => return Ok(()),
        };
        Err(Self::NoFile {
            file: file.to_owned(),
            found,
            is_table,
        })
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::Texts { .. } | Self::Words { .. } | Self::Protected { .. } => {
                "`fedround eval RUN` tests the model on the run's data; docs/weights.md says what `predict` takes"
            }
            Self::NoFile {
                found, is_table, ..
            } => match (found, is_table) {
                (Found::Nothing, _) => "check the paths after the run folder",
                (Found::Folder, true) => "name the files in it, as in DIR/*.csv",
                (Found::Folder, false) => "name the files in it, as in DIR/*.png",
                (Found::Stream | Found::StandardInput, _) => {
                    "write what it holds into a file, and name that"
                }
            },
            Self::NotImages { .. } | Self::Undecodable { .. } => return None,
        })
    }
}
