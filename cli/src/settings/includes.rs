//! Reads a file of settings over the files that it includes, as a table.

use std::path::{Path, PathBuf};

use crate::error::CliError;

/// The key of a file's list of other files, whose settings it starts from.
pub(crate) const INCLUDE: &str = "include";

/// A file's text, as a table too.
pub(crate) fn read_table(path: &Path) -> Result<(String, toml::Table), CliError> {
    let text = std::fs::read_to_string(path).map_err(CliError::io("read", path))?;
    let table = toml::from_str(&text).map_err(parse_error(path))?;
    Ok((text, table))
}

/// A file's settings over those of the files that it includes, the later ones over the earlier. `inside` are
/// the files that include it.
pub(crate) fn read_with_includes(
    path: &Path,
    inside: &mut Vec<PathBuf>,
) -> Result<toml::Table, CliError> {
    let wrong = |message: String| CliError::Config {
        path: path.to_owned(),
        message,
    };
    let whole = path.canonicalize().map_err(CliError::io("read", path))?;
    if inside.contains(&whole) {
        return Err(wrong("the file includes itself".to_owned()));
    }
    let (_, mut table) = read_table(path)?;
    let included = match table.remove(INCLUDE) {
        None => vec![],
        Some(toml::Value::String(file)) => vec![file],
        Some(value) => value.try_into::<Vec<String>>().map_err(|_| {
            wrong(
                "include: expected a file or a list of files, as in include = [\"base.toml\"]"
                    .to_owned(),
            )
        })?,
    };
    inside.push(whole);
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut merged = toml::Table::new();
    for file in included {
        lay_over(&mut merged, read_with_includes(&folder.join(file), inside)?);
    }
    inside.pop();
    lay_over(&mut merged, table);
    Ok(merged)
}

/// Replaces values; tables, such as that of hyper-parameters, are merged key by key.
pub(crate) fn lay_over(below: &mut toml::Table, above: toml::Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above)) => lay_over(below, above),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}

pub(crate) fn parse_error(path: &Path) -> impl Fn(toml::de::Error) -> CliError {
    |error| CliError::Config {
        path: path.to_owned(),
        message: error.to_string().trim_end().to_owned(),
    }
}
