//! Bundled datasets, read in another way, and files that are named as if they were one.

use std::path::Path;

use super::{Normalize, OwnDataError};
use crate::{Column, DataError, Dataset, Examples};

/// A bundled dataset under another scale. Its own one is automatic.
pub(super) fn scaled(data: Dataset, normalize: &Normalize) -> Result<Dataset, DataError> {
    if *normalize == Normalize::Auto {
        return Ok(data);
    }
    let scale = normalize.of_bytes(|| Ok((vec![], vec![])))?;
    if data.train.x().scale().is_none() {
        return Err(OwnDataError::Option {
            option: "normalize",
            data: data.name,
            why: "its inputs are numbers with a scale of their own",
        }
        .into());
    }
    let rescaled = |examples: &Examples| -> Result<Examples, DataError> {
        let mut columns: Vec<Column> = examples.columns().to_vec();
        columns[0] = columns[0].clone().with_scale(scale.clone())?;
        Ok(Examples::of_columns(columns, examples.labels())?)
    };
    Ok(Dataset {
        train: rescaled(&data.train)?,
        test: rescaled(&data.test)?,
        ..data
    })
}

/// The error that no dataset has this name. If a file or folder has it, the error says how to read that.
pub(super) fn unknown(name: &str, error: DataError) -> DataError {
    let path = Path::new(name);
    if !matches!(error, DataError::UnknownDataset { .. }) || !path.exists() {
        return error;
    }
    let packed = path.extension().is_some_and(|end| end == "gz");
    let table = if packed { path.file_stem() } else { None };
    let end = Path::new(table.unwrap_or(path.as_os_str())).extension();
    let kinds: &[&str] = match end.and_then(|end| end.to_str()) {
        _ if path.is_dir() => &["images", "leaf"],
        Some("csv" | "tsv" | "txt") => &["csv"],
        Some("parquet") => &["parquet"],
        Some("npz") => &["npz"],
        _ => return error,
    };
    OwnDataError::NoKind {
        name: name.to_owned(),
        what: if path.is_dir() { "a folder" } else { "a file" },
        suggestion: kinds.iter().map(|kind| format!("{kind}:{name}")).collect(),
    }
    .into()
}
