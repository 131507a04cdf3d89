//! Files that the command writes: text, JSON and CSV.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use serde::Serialize;

use crate::error::CliError;

/// Writes a whole file.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), CliError> {
    fs::write(path, text).map_err(CliError::io("write", path))
}

/// Writes a file that must not exist.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).open(path);
    let mut file = file.map_err(CliError::io("create", path))?;
    file.write_all(bytes).map_err(CliError::io("write", path))
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
    let write = || -> csv::Result<()> {
        let mut writer = csv::Writer::from_path(path)?;
        rows.into_iter().try_for_each(|row| writer.serialize(row))?;
        Ok(writer.flush()?)
    };
    write().map_err(|error| CliError::io("write", path)(error.into()))
}
