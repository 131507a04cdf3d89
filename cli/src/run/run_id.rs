//! The identity of a run: a random number in its folder and in each of its checkpoints.
//!
//! Two runs can have the same settings and the same data, and a checkpoint of one would then pass every
//! other check of the other. The number travels with a folder that is copied or moved.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use fedround_store::{StoreError, hex, write_atomically};
use serde::{Deserialize, Serialize};

/// The file in a run folder.
pub(crate) const RUN_ID: &str = "run-id";

/// 16 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct RunId(String);

impl RunId {
    fn draw(path: &Path) -> Result<Self, StoreError> {
        let mut bytes = [0; 8];
        let drawn =
            getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()));
        drawn.map_err(StoreError::io("draw a random number for", path))?;
        Ok(Self(hex(&bytes)))
    }

    /// Reads the run's id; `None` if the file is missing or empty.
    pub fn read(dir: &Path) -> Result<Option<Self>, StoreError> {
        let path = dir.join(RUN_ID);
        match fs::read_to_string(&path) {
            Ok(text) if text.trim().is_empty() => Ok(None),
            Ok(text) => Ok(Some(Self(text.trim().to_owned()))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("read", path)(error)),
        }
    }

    /// Reads the run's id, or writes one: the checkpoint's, if given, otherwise a new one.
    pub fn keep(dir: &Path, checkpoint: Option<&Self>) -> Result<Self, StoreError> {
        if let Some(own) = Self::read(dir)? {
            return Ok(own);
        }
        let path = dir.join(RUN_ID);
        let own = checkpoint.map_or_else(|| Self::draw(&path), |own| Ok(own.clone()))?;
        write_atomically(&path, &[format!("{own}\n").as_bytes()])?;
        Ok(own)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_keeps_its_number_and_no_two_have_the_same() {
        let [a, b, c] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let own = RunId::keep(a.path(), None).unwrap();
        assert_eq!(own.to_string().len(), 16);
        assert_ne!(RunId::keep(b.path(), None).unwrap(), own);
        assert_eq!(RunId::keep(c.path(), Some(&own)).unwrap(), own);
        let other = RunId::read(b.path()).unwrap().unwrap();
        assert_eq!(RunId::keep(a.path(), Some(&other)).unwrap(), own);
    }
}
