//! Files that the command reads and writes: text, JSON and CSV, their names and digests, and folders of caches.

pub(crate) mod cache_folder;
pub(crate) mod convolution_cache;
pub(crate) mod digest;
pub(crate) mod names;
pub(crate) mod several_runs;

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use fedround_store::write_atomically;
use serde::Serialize;

use crate::error::CliError;

/// A file's text; `None` if there is no file.
pub(crate) fn read_if_there(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// The files of a folder whose names end with an extension, in the order of their names.
pub(crate) fn files_in(dir: &Path, extension: &str) -> Result<Vec<PathBuf>, CliError> {
    let entries = fs::read_dir(dir).map_err(CliError::io("read", dir))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let paths: io::Result<Vec<PathBuf>> = paths.collect();
    let mut paths = paths.map_err(CliError::io("read", dir))?;
    paths.retain(|path| path.extension().is_some_and(|own| own == extension));
    paths.sort();
    Ok(paths)
}

/// Writes a file, whole or not at all.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), CliError> {
    Ok(write_atomically(path, &[text.as_bytes()])?)
}

/// Writes a file that must not exist, whole or not at all.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    // The name is taken before anything is written: another process cannot take it meanwhile.
    let taken = OpenOptions::new().write(true).create_new(true).open(path);
    taken.map_err(CliError::io("create", path))?;
    write_atomically(path, &[bytes]).map_err(|error| {
        // It is empty, and the first error is the one that counts.
        let _ = fs::remove_file(path);
        error.into()
    })
}

/// Removes a file, if there is one.
pub(crate) fn remove_file(path: &Path) -> Result<(), CliError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(CliError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Removes a folder with all that is in it, if there is one.
pub(crate) fn remove_folder(path: &Path) -> Result<(), CliError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(CliError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// A report as a JSON file's text.
pub(crate) fn json(report: &impl Serialize) -> Result<String, CliError> {
    Ok(serde_json::to_string_pretty(report)? + "\n")
}

/// Writes rows as CSV, under the names of their fields.
pub(crate) fn write_csv(
    path: &Path,
    rows: impl IntoIterator<Item = impl Serialize>,
) -> Result<(), CliError> {
    let text = csv_bytes(path, |writer| {
        rows.into_iter().try_for_each(|row| writer.serialize(row))
    })?;
    Ok(write_atomically(path, &[&text])?)
}

/// Rows as CSV. An error names the file that they are for.
pub(crate) fn csv_bytes(
    path: &Path,
    write: impl FnOnce(&mut csv::Writer<Vec<u8>>) -> csv::Result<()>,
) -> Result<Vec<u8>, CliError> {
    let mut writer = csv::Writer::from_writer(vec![]);
    let written = write(&mut writer).map_err(io::Error::from);
    let bytes = written.and_then(|()| writer.into_inner().map_err(|error| error.into_error()));
    bytes.map_err(CliError::io("write", path))
}
