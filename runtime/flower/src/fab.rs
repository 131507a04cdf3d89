//! Flower app bundles: the zip files that runs are started with.

use std::io::{Cursor, Write};

use fedround_store::hex;
use sha2::{Digest, Sha256};
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::error::FlowerError;
use crate::wire;

/// A bundle. Flower starts no run without one, although our parties and coordinators do not
/// execute what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fab {
    content: Vec<u8>,
}

/// An app without content. A SuperLink with subprocess isolation would run it, and fail with its text.
const STUB: &str = "raise RuntimeError('this run of fedround has no app: the SuperLink needs --isolation process, and SuperNodes need a run that was started with a bundle')\n";

impl Fab {
    /// A bundle whose apps only say that they are not meant to be run.
    ///
    /// # Errors
    ///
    /// [`FlowerError::Fab`] if the name or the version has other characters than letters, digits,
    /// `.`, `-` and `_`.
    pub fn stub(name: &str, version: &str) -> Result<Self, FlowerError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        for text in [name, version] {
            if text.is_empty() || !text.chars().all(plain) {
                let problem = format!(
                    "{text:?} is no name of an app or a version: expected letters, digits, `.`, `-` and `_`"
                );
                return Err(FlowerError::Fab { problem });
            }
        }
        let project = format!(
            "[project]\nname = \"{name}\"\nversion = \"{version}\"\n\n\
             [tool.flwr.app]\npublisher = \"fedround\"\n\n\
             [tool.flwr.app.components]\n\
             serverapp = \"fedround_stub:app\"\nclientapp = \"fedround_stub:app\"\n"
        );
        Self::of_files(&[
            ("pyproject.toml", project.as_bytes()),
            ("fedround_stub.py", STUB.as_bytes()),
        ])
    }

    /// A bundle of these files, by their paths, with the list of their hashes that Flower checks.
    /// A federation with Flower's own clients needs their app in it.
    ///
    /// # Errors
    ///
    /// [`FlowerError::Fab`].
    pub fn of_files(files: &[(&str, &[u8])]) -> Result<Self, FlowerError> {
        let list: Vec<_> = files
            .iter()
            .map(|(path, bytes)| format!("{path},{},{}", hash(bytes), bytes.len() * 8))
            .collect();
        let list = list.join("\n");
        let all = files.iter().copied();
        let all = all.chain([(".info/CONTENT", list.as_bytes())]);
        let mut zip = ZipWriter::new(Cursor::new(vec![]));
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        for (path, bytes) in all {
            let started = zip.start_file(path, stored);
            let written = started.and_then(|()| Ok(zip.write_all(bytes)?));
            written.map_err(|error| FlowerError::Fab {
                problem: format!("{path}: {error}"),
            })?;
        }
        let content = zip.finish().map_err(|error| FlowerError::Fab {
            problem: error.to_string(),
        })?;
        Ok(Self {
            content: content.into_inner(),
        })
    }

    /// A bundle that `flwr build` made.
    pub fn of_bytes(content: Vec<u8>) -> Self {
        Self { content }
    }

    /// The zip file.
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    pub(crate) fn to_wire(&self) -> wire::run::Fab {
        wire::run::Fab {
            hash_str: hash(&self.content),
            content: self.content.clone(),
        }
    }
}

fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_bundle_lists_the_hashes_of_its_files() {
        let fab = Fab::stub("fedavg", "0.1.0").unwrap();
        let mut zip = zip::ZipArchive::new(Cursor::new(fab.content())).unwrap();
        let mut read = |path: &str| {
            let mut text = String::new();
            let mut file = zip.by_name(path).unwrap();
            file.read_to_string(&mut text).unwrap();
            text
        };
        let list = read(".info/CONTENT");
        for line in list.lines() {
            let [path, hash_of_file, bits] = *line.split(',').collect::<Vec<_>>() else {
                panic!("{line}");
            };
            let text = read(path);
            assert_eq!(hash_of_file, hash(text.as_bytes()), "{path}");
            assert_eq!(bits, (text.len() * 8).to_string(), "{path}");
        }
        assert_eq!(list.lines().count(), 2);
        // The same files, the same run.
        assert_eq!(fab, Fab::stub("fedavg", "0.1.0").unwrap());
    }

    #[test]
    fn names_that_would_break_the_project_file_are_refused() {
        for name in ["", "a\"b", "a b"] {
            assert!(Fab::stub(name, "1").is_err(), "{name}");
        }
    }
}
