//! The manifest of a run folder: the size and the digest of every file that a run leaves.
//!
//! It is written when a run ends, after all other files, and removed before a run goes on. A folder
//! with a manifest therefore holds a run that ended, and whoever reads its files can tell whether
//! they are still those that the run wrote. Checkpoints and clients' states are not listed: they have
//! checksums of their own. Neither is the run's number, which the checkpoints have.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::checkpoints::CHECKPOINTS;
use super::folder::{CLIENTS, FILES, MANIFEST, STATES};
use super::manifest_error::ManifestError;
use super::run_id::RUN_ID;
use crate::error::CliError;
use crate::files::digest;
use crate::files::{json, read_if_there, write_text};
use crate::terminal::tell;

/// The version of the manifest's format.
const VERSION: u32 = 1;

/// `manifest.json`.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Manifest {
    version: u32,
    /// By their paths in the folder, with `/` between a folder and a file on all systems.
    files: BTreeMap<String, Entry>,
}

/// A file as the run left it.
#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
struct Entry {
    /// In bytes.
    size: u64,
    /// In hexadecimal digits.
    sha256: String,
}

impl Manifest {
    /// Writes the manifest of the files that are now in a folder.
    pub(super) fn write(dir: &Path) -> Result<(), CliError> {
        let mut files = BTreeMap::new();
        for name in names(dir)? {
            let path = dir.join(&name);
            let (sha256, size) =
                digest::of_file::<Sha256>(&path).map_err(CliError::io("read", &path))?;
            files.insert(name, Entry { size, sha256 });
        }
        let manifest = Self {
            version: VERSION,
            files,
        };
        let path = dir.join(MANIFEST);
        write_text(&path, &json(&manifest)?)
    }

    /// Reads the manifest of a folder; `None` if it has none.
    pub fn read(dir: &Path) -> Result<Option<Self>, ManifestError> {
        let path = dir.join(MANIFEST);
        let text = match read_if_there(&path) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(None),
            Err(source) => return Err(ManifestError::Read { path, source }),
        };
        match serde_json::from_str::<Self>(&text) {
            Ok(manifest) if manifest.version == VERSION => Ok(Some(manifest)),
            Ok(Self { version: found, .. }) => Err(ManifestError::Version {
                path,
                expected: VERSION,
                found,
            }),
            Err(error) => Err(ManifestError::Content {
                path,
                message: error.to_string(),
            }),
        }
    }

    /// The same of a run whose model is wanted. Without a manifest, nothing can be checked, and that is
    /// said.
    pub fn of_trained(dir: &Path) -> Result<Option<Self>, ManifestError> {
        let found = Self::read(dir)?;
        if found.is_none() {
            let dir = dir.display();
            tell!(
                "warning: {dir} has no {MANIFEST}, which a run writes when it ends; its files are read without a check"
            );
        }
        Ok(found)
    }

    /// Fails if a file of the folder is not as the run left it.
    pub fn check(&self, dir: &Path, name: &str) -> Result<(), ManifestError> {
        let path = dir.join(name);
        let Some(expected) = self.files.get(name) else {
            return Err(ManifestError::Unlisted { path });
        };
        let size = expected.size;
        // A file of another size need not be read.
        let found = fs::metadata(&path).map(|file| file.len());
        let digest = match found {
            Ok(found) if found != size => {
                let expected = size;
                return Err(ManifestError::Size {
                    path,
                    expected,
                    found,
                });
            }
            Ok(_) => digest::of_file::<Sha256>(&path),
            Err(error) => Err(error),
        };
        match digest {
            Ok((found, _)) if found == expected.sha256 => Ok(()),
            Ok((found, _)) => Err(ManifestError::Digest {
                path,
                expected: expected.sha256.clone(),
                found,
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(ManifestError::Missing { path, size })
            }
            Err(source) => Err(ManifestError::Read { path, source }),
        }
    }

    /// Fails at the first file of the folder that is not as the run left it.
    pub fn check_all(&self, dir: &Path) -> Result<(), ManifestError> {
        self.files.keys().try_for_each(|name| self.check(dir, name))
    }

    /// Whether the run left a file of this name.
    pub fn lists(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    /// Whether the run left models of clients.
    pub fn lists_clients(&self) -> bool {
        let mut names = self.files.keys();
        names.any(|name| name.split_once('/').is_some_and(|(dir, _)| dir == CLIENTS))
    }
}

/// The files of a run that a manifest lists, those that there are.
fn names(dir: &Path) -> Result<Vec<String>, CliError> {
    let unlisted = [CHECKPOINTS, STATES, MANIFEST, RUN_ID];
    let listed = FILES.into_iter().filter(|name| !unlisted.contains(name));
    let mut names = vec![];
    for name in listed {
        let path = dir.join(name);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => names.append(&mut models(&path, name)?),
            Ok(_) => names.push(name.to_owned()),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(CliError::io("read", path)(error)),
        }
    }
    Ok(names)
}

/// The models in a folder of clients' own ones. Anything else there is the user's.
fn models(folder: &Path, name: &str) -> Result<Vec<String>, CliError> {
    let mut models = vec![];
    for entry in fs::read_dir(folder).map_err(CliError::io("read the folder", folder))? {
        let file = entry.map_err(CliError::io("read the folder", folder))?;
        let file = file.file_name();
        if let Some(file) = file.to_str().filter(|file| file.ends_with(".safetensors")) {
            models.push(format!("{name}/{file}"));
        }
    }
    Ok(models)
}
