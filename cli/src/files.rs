//! Files that the command writes: text, JSON and CSV.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;

use fedround_store::write_atomically;
use serde::Serialize;

use crate::error::CliError;

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
    let text = || -> Result<Vec<u8>, csv::Error> {
        let mut writer = csv::Writer::from_writer(vec![]);
        rows.into_iter().try_for_each(|row| writer.serialize(row))?;
        writer
            .into_inner()
            .map_err(|error| error.into_error().into())
    };
    let text = text().map_err(|error| CliError::io("write", path)(error.into()))?;
    Ok(write_atomically(path, &[&text])?)
}
