//! What became of one file of a dataset.

use std::path::PathBuf;

use serde::Serialize;

/// A file that is where it belongs.
#[derive(Debug, Serialize)]
pub(super) struct Fetched {
    pub file: PathBuf,
    /// Whether it was downloaded, or was there already.
    pub fetched: bool,
    /// The folder in which it was unpacked, if it is an archive.
    pub unpacked: Option<PathBuf>,
}

impl Fetched {
    /// A line for people.
    pub fn line(&self) -> String {
        let done = match self.fetched {
            true => "fetched, as published",
            false => "already there, as published",
        };
        match &self.unpacked {
            None => format!("{}: {done}\n", self.file.display()),
            Some(dir) => {
                let name = self.file.file_name().unwrap_or_default();
                let (name, dir) = (name.to_string_lossy(), dir.display());
                format!("{name}: {done}; unpacked in {dir}\n")
            }
        }
    }
}
