//! Reading files that may be gzipped.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::DataError;

/// The unpacked bytes of a file.
pub(crate) struct Raw {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    /// Why unpacking stopped, where it did. Kept beside what was unpacked, so
    /// that an error can say how many bytes are missing.
    damage: Option<io::Error>,
}

/// `path` itself or, failing that, `path.gz`.
pub(crate) fn find(path: &Path) -> Option<PathBuf> {
    let packed = PathBuf::from(format!("{}.gz", path.display()));
    [path.to_path_buf(), packed]
        .into_iter()
        .find(|p| p.is_file())
}

pub(crate) fn read(path: &Path) -> Result<Raw, DataError> {
    let bytes = fs::read(path).map_err(|source| DataError::Read {
        path: path.to_path_buf(),
        source,
    })?;
    let mut raw = Raw {
        path: path.to_path_buf(),
        bytes,
        damage: None,
    };
    if path.extension().is_some_and(|e| e == "gz") {
        let mut unpacked = Vec::with_capacity(raw.bytes.len() * 4);
        raw.damage = MultiGzDecoder::new(&raw.bytes[..])
            .read_to_end(&mut unpacked)
            .err();
        raw.bytes = unpacked;
    }
    Ok(raw)
}

impl Raw {
    fn found(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The error of a file that should have `expected` bytes.
    pub fn wrong_length(&self, expected: u64) -> DataError {
        DataError::Length {
            path: self.path.clone(),
            expected,
            found: self.found(),
            damaged: self.damage.is_some(),
        }
    }

    /// Checks that there are `expected` bytes, all of them sound.
    pub fn check_length(&mut self, expected: u64) -> Result<(), DataError> {
        if self.found() != expected {
            return Err(self.wrong_length(expected));
        }
        self.check_sound(Some(expected))
    }

    /// The bytes, if unpacking came to a good end.
    pub fn sound(mut self) -> Result<Vec<u8>, DataError> {
        self.check_sound(None)?;
        Ok(self.bytes)
    }

    /// Checks that unpacking came to a good end.
    fn check_sound(&mut self, expected: Option<u64>) -> Result<(), DataError> {
        match self.damage.take() {
            None => Ok(()),
            Some(source) => Err(DataError::Gzip {
                path: self.path.clone(),
                expected,
                found: self.found(),
                source,
            }),
        }
    }
}

/// Checks that every label is one of the classes.
pub(crate) fn check_labels(path: &Path, labels: &[u8], classes: usize) -> Result<(), DataError> {
    match labels.iter().position(|&l| usize::from(l) >= classes) {
        None => Ok(()),
        Some(index) => Err(DataError::Label {
            path: path.to_path_buf(),
            index,
            label: labels[index],
            classes,
        }),
    }
}
