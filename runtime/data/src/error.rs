//! Errors of reading datasets.

use std::io;
use std::path::{Path, PathBuf};

use crate::{AugmentError, ColumnError, OwnDataError, RecordError};
use fedround_names::did_you_mean;

/// Why a dataset could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// No dataset has this name.
    #[error("unknown dataset `{name}`{}; the datasets are {}, and data of your own is images:DIR, csv:FILE, parquet:FILE, \
         npy:X,Y, npz:FILE or leaf:DIR", did_you_mean(*nearest), known.join(", "))]
    UnknownDataset {
        /// The name that was asked for.
        name: String,
        /// The dataset whose name is closest, if one is close.
        nearest: Option<&'static str>,
        /// The names of all datasets.
        known: Vec<&'static str>,
    },
    /// The dataset is read from files, and no folder was given.
    #[error(
        "dataset `{dataset}` is read from files: expected a data folder DIR that holds {}, found none. {how}. \
         `synth-digits` needs no files", files.join(", ")
    )]
    NoDirectory {
        /// The dataset.
        dataset: &'static str,
        /// Its files, relative to the data folder.
        files: &'static [&'static str],
        /// Where to get them.
        how: &'static str,
    },
    /// Files of the dataset are missing.
    #[error(
        "dataset `{dataset}` is not complete. Looked for{}\n{how}. `synth-digits` needs no files",
        list(looked_for)
    )]
    Missing {
        /// The dataset.
        dataset: &'static str,
        /// The missing files; each may also end in `.gz`.
        looked_for: Vec<PathBuf>,
        /// Where to get them.
        how: &'static str,
    },
    /// The operating system could not read a file or folder.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file does not have the length that its header or record size implies.
    #[error(
        "{} is truncated or corrupt: expected {expected} bytes{}, found {found}{}; get the file again",
        path.display(), unpacked(path), after(*damaged)
    )]
    Length {
        /// The file.
        path: PathBuf,
        /// The number of bytes it should have, unpacked.
        expected: u64,
        /// The number of bytes it has, unpacked.
        found: u64,
        /// Whether the gzip stream itself ends early or is damaged.
        damaged: bool,
    },
    /// A gzip file is much larger than any published one.
    #[error(
        "{} unpacks to too much: expected at most {limit} bytes, found {found}; get the file again, or \
         unpack it first if it is meant to be so large",
        path.display()
    )]
    Unpacked {
        /// The file.
        path: PathBuf,
        /// The largest number of unpacked bytes that is accepted.
        limit: u64,
        /// How many there are.
        found: String,
    },
    /// A gzip file unpacks to the right number of bytes, but its checksum is wrong.
    #[error(
        "{} is corrupt: the gzip stream is damaged ({source}) after {found} unpacked bytes{}; get the file again",
        path.display(), of(*expected)
    )]
    Gzip {
        /// The file.
        path: PathBuf,
        /// The number of bytes it should have, unpacked, where that is known.
        expected: Option<u64>,
        /// The number of bytes that could be unpacked.
        found: u64,
        /// The error of the decoder.
        source: io::Error,
    },
    /// An idx file starts with the wrong four bytes.
    #[error(
        "{} is not an idx file of {what}: it starts with {found:#010x}, expected {expected:#010x}",
        path.display()
    )]
    Magic {
        /// The file.
        path: PathBuf,
        /// The expected contents.
        what: &'static str,
        /// The expected magic number.
        expected: u32,
        /// The one that was found.
        found: u32,
    },
    /// An idx file holds images of another size.
    #[error(
        "{} holds images of {} x {}, expected {} x {}",
        path.display(), found[0], found[1], expected[0], expected[1]
    )]
    ImageSize {
        /// The file.
        path: PathBuf,
        /// The expected height and width.
        expected: [usize; 2],
        /// The height and width that its header gives.
        found: [usize; 2],
    },
    /// The files of images and labels disagree.
    #[error(
        "{} holds {num_images} images but {} holds {num_labels} labels; the files do not belong together",
        images.display(), labels.display()
    )]
    Count {
        /// The file of images.
        images: PathBuf,
        /// The number of images.
        num_images: usize,
        /// The file of labels.
        labels: PathBuf,
        /// The number of labels.
        num_labels: usize,
    },
    /// A label is not one of the classes.
    #[error(
        "{}: label {label} of example {index} is out of range, expected {first} to {}",
        path.display(), usize::from(*first) + classes - 1
    )]
    Label {
        /// The file.
        path: PathBuf,
        /// The example in that file, from 0.
        index: usize,
        /// Its label.
        label: u8,
        /// The label of the first class.
        first: u8,
        /// The number of classes.
        classes: usize,
    },
    /// Examples have a class that a model was not trained on.
    #[error(
        "`{data}` has examples of the class `{class}`, and the model knows the classes {}; give classes the names \
         that they have in the data of its training",
        known.join(", ")
    )]
    OtherClass {
        /// The data.
        data: String,
        /// The class.
        class: String,
        /// The classes of the model.
        known: Vec<String>,
    },
    /// Examples are others than those that a model was trained on.
    #[error("`{data}` has {found}, and the model was trained on {expected}")]
    OtherInputs {
        /// The data.
        data: String,
        /// The inputs of the model.
        expected: String,
        /// The inputs of the data.
        found: String,
    },
    /// Files hold no example.
    #[error("{} holds no examples", path.display())]
    Empty {
        /// The file, or the folder of files.
        path: PathBuf,
    },
    /// A file of records or of JSON is wrong.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A binary file has invalid contents.
    #[error("{} at byte {offset}: expected {expected}, found {found}; get the file again", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The place in the file, in bytes.
        offset: u64,
        /// What was expected there.
        expected: String,
        /// What was found there.
        found: String,
    },
    /// A line of a text file is invalid.
    #[error("{}:{line}: expected {expected}, found {found}; get the file again", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What was expected there.
        expected: String,
        /// What was found there.
        found: String,
    },
    /// A picture cannot be decoded.
    #[error(
        "cannot decode {} ({bytes} bytes): {message}; replace the file, or remove it from the folder",
        path.display()
    )]
    Image {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        bytes: usize,
        /// What is wrong with it.
        message: String,
    },
    /// Pictures cannot be brought to this shape.
    #[error(
        "images of shape {shape:?}: expected 1 or 3 channels, and a height and width of at least 1"
    )]
    ImageShape {
        /// Channels, height and width.
        shape: [usize; 3],
    },
    /// A user's own data is wrong, or cannot be read as asked.
    #[error(transparent)]
    Own(#[from] OwnDataError),
    /// Images cannot be augmented in this way.
    #[error(transparent)]
    Augment(#[from] AugmentError),
    /// Columns, labels and groups do not match.
    #[error(transparent)]
    Column(#[from] ColumnError),
    /// A [`DataSource`](crate::DataSource) of the caller's own failed, such as one that asks a database.
    #[error("cannot load the data: {0}")]
    Source(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl DataError {
    /// The error of a [`DataSource`](crate::DataSource) of your own: `rows.map_err(DataError::from_source)?`, or
    /// `DataError::from_source("no rows")`.
    pub fn from_source(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Source(error.into())
    }

    /// Checks that a file or folder has examples: it is an error if `empty`.
    pub(crate) fn empty_if(empty: bool, path: &Path) -> Result<(), Self> {
        match empty {
            false => Ok(()),
            true => Err(Self::Empty {
                path: path.to_path_buf(),
            }),
        }
    }

    /// The error that a file or folder cannot be read, from that of the operating system.
    pub(crate) fn unreadable(path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |source| Self::Read {
            path: path.to_path_buf(),
            source,
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    let line = |p: &PathBuf| format!("\n  {} (or .gz)", p.display());
    paths.iter().map(line).collect()
}

fn unpacked(path: &Path) -> &'static str {
    if path.extension().is_some_and(|e| e == "gz") {
        " after unpacking"
    } else {
        ""
    }
}

fn after(damaged: bool) -> &'static str {
    if damaged {
        " before the gzip stream breaks off"
    } else {
        ""
    }
}

fn of(expected: Option<u64>) -> String {
    expected.map_or_else(String::new, |n| format!(" of {n}"))
}
