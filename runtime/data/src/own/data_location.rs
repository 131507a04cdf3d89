//! The location of data, as one word: `mnist`, `images:photos`, `csv:people.csv`.

use std::fmt;
use std::mem::discriminant;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use fedround_names::nearest;

use super::OwnDataError;
use super::kinds::KINDS;
use crate::DataError;

/// Where data is. It is parsed from, and printed as, its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataLocation {
    /// One of [`DATASETS`](crate::DATASETS), by its name.
    Bundled(String),
    /// `images:DIR`: a folder of images with a folder for each class.
    Images(PathBuf),
    /// `csv:FILE` or `csv:TRAIN,TEST`: tables with a header.
    Csv(Vec<PathBuf>),
    /// `parquet:FILE` or `parquet:TRAIN,TEST`: tables, in a build with the feature `parquet`.
    Parquet(Vec<PathBuf>),
    /// `npy:X,Y`, `npy:X,Y,TEST_X,TEST_Y` or `npz:FILE`: arrays of NumPy.
    Arrays(Vec<PathBuf>),
    /// `leaf:DIR`: JSON files of LEAF.
    Leaf(PathBuf),
}

impl FromStr for DataLocation {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        let text = text.trim();
        let Some((kind, rest)) = text.split_once(':') else {
            return Ok(Self::Bundled(text.to_owned()));
        };
        let names = KINDS.map(|(name, _)| name);
        let Some((_, syntax)) = KINDS.iter().find(|(name, _)| *name == kind) else {
            return Err(OwnDataError::Kind {
                kind: kind.to_owned(),
                nearest: nearest(kind, names),
            }
            .into());
        };
        let files: Vec<PathBuf> = rest.split(',').map(|f| PathBuf::from(f.trim())).collect();
        let named = files.iter().all(|file| !file.as_os_str().is_empty());
        Ok(match (kind, files.len()) {
            ("images", _) if !rest.is_empty() => Self::Images(rest.into()),
            ("leaf", _) if !rest.is_empty() => Self::Leaf(rest.into()),
            ("csv", 1 | 2) if named => Self::Csv(files),
            ("parquet", 1 | 2) if named => Self::Parquet(files),
            ("npy", 2 | 4) if named => Self::Arrays(files),
            ("npz", 1) if named => Self::Arrays(files),
            _ => {
                return Err(OwnDataError::Place {
                    text: text.to_owned(),
                    syntax,
                }
                .into());
            }
        })
    }
}

impl fmt::Display for DataLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, files) = match self {
            Self::Bundled(name) => return f.write_str(name),
            Self::Images(dir) => ("images", std::slice::from_ref(dir)),
            Self::Leaf(dir) => ("leaf", std::slice::from_ref(dir)),
            Self::Csv(files) => ("csv", &files[..]),
            Self::Parquet(files) => ("parquet", &files[..]),
            Self::Arrays(files) if files.len() == 1 => ("npz", &files[..]),
            Self::Arrays(files) => ("npy", &files[..]),
        };
        let files: Vec<_> = files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        write!(f, "{kind}:{}", files.join(","))
    }
}

impl DataLocation {
    /// A short name for reports and folders: a dataset's own, or that of the folder or first file.
    pub fn name(&self) -> String {
        let first = match self {
            Self::Bundled(name) => return name.clone(),
            Self::Images(dir) | Self::Leaf(dir) => dir,
            Self::Csv(files) | Self::Parquet(files) | Self::Arrays(files) => match files.first() {
                Some(first) => first,
                None => return String::new(),
            },
        };
        match std::path::absolute(first) {
            Ok(path) => last(&path),
            Err(_) => last(first),
        }
    }

    /// The same with paths that work from any folder.
    #[must_use]
    pub fn absolute(self) -> Self {
        self.map_paths(|path| std::path::absolute(&path).unwrap_or(path))
    }

    /// The same with each path replaced.
    #[must_use]
    pub fn map_paths(self, f: impl Fn(PathBuf) -> PathBuf) -> Self {
        let all = |files: Vec<PathBuf>| files.into_iter().map(&f).collect();
        match self {
            Self::Bundled(name) => Self::Bundled(name),
            Self::Images(dir) => Self::Images(f(dir)),
            Self::Leaf(dir) => Self::Leaf(f(dir)),
            Self::Csv(files) => Self::Csv(all(files)),
            Self::Parquet(files) => Self::Parquet(all(files)),
            Self::Arrays(files) => Self::Arrays(all(files)),
        }
    }

    /// Whether both are places of data of the same kind, tables, images or what else, that a user has.
    pub fn is_own_like(&self, other: &Self) -> bool {
        let same = discriminant(self) == discriminant(other);
        same && !matches!(self, Self::Bundled(_))
    }

    /// The error that a path is not `expected`, a file or a folder: it is the other, or nothing is there.
    pub(super) fn missing(path: &Path, expected: &'static str) -> DataError {
        let path = path.to_path_buf();
        match path.exists() {
            true => OwnDataError::NotOfKind { path, expected }.into(),
            false => OwnDataError::NotThere { path }.into(),
        }
    }
}

/// The last part of a path, for names.
pub(super) fn last(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
