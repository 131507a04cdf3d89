//! CIFAR-10: binary batches, plain or gzipped.
//!
//! A batch is a sequence of records of 3073 bytes: a label and the red, green
//! and blue planes of a 32x32 image. Any number of training batches of any
//! length will do.

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::files::{check_labels, find, read};
use crate::{DataError, DatasetInfo, Examples, Scale};

const CLASSES: usize = 10;
const SHAPE: [usize; 3] = [3, 32, 32];
const RECORD: usize = 1 + 3 * 32 * 32;

/// Training and test examples from `data_batch_*.bin` and `test_batch.bin` in `folder`.
///
/// # Errors
/// Missing files, a length that is no whole number of records, corrupt gzip
/// streams, labels out of range, no record at all.
pub fn load(info: &'static DatasetInfo, folder: &Path) -> Result<(Examples, Examples), DataError> {
    let train = batches(folder)?;
    let wanted = folder.join("test_batch.bin");
    let test = find(&wanted);
    let (false, Some(test)) = (train.is_empty(), &test) else {
        let mut looked_for = Vec::new();
        if train.is_empty() {
            looked_for.push(folder.join("data_batch_*.bin"));
        }
        if test.is_none() {
            looked_for.push(wanted);
        }
        return Err(DataError::Missing {
            dataset: info.name,
            looked_for,
            how: info.how,
        });
    };
    Ok((examples(&train)?, examples(std::slice::from_ref(test))?))
}

/// The examples of some batches, one batch after another. Names that end in
/// `.gz` are unpacked.
///
/// # Errors
/// As [`load`], less the missing files.
pub fn examples(batches: &[PathBuf]) -> Result<Examples, DataError> {
    let parts = batches
        .par_iter()
        .map(|path| records(path))
        .collect::<Result<Vec<_>, _>>()?;
    let bytes = parts.iter().map(|(pixels, _)| pixels.len()).sum();
    let (mut pixels, mut labels) = (Vec::with_capacity(bytes), Vec::new());
    for (part_pixels, part_labels) in parts {
        pixels.extend_from_slice(&part_pixels);
        labels.extend(part_labels.into_iter().map(u16::from));
    }
    if labels.is_empty() {
        let path = batches.first().cloned().unwrap_or_default();
        return Err(DataError::Empty { path });
    }
    Ok(Examples::new(SHAPE, pixels, labels, Scale::Centred)?)
}

/// The training batches of a folder in the order of their numbers; a plain
/// file goes before its gzipped copy.
fn batches(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let unreadable = |source| DataError::Read {
        path: folder.to_path_buf(),
        source,
    };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // Reported with the list of the files that were looked for.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        let Some(name) = path.file_name().and_then(|n| n.to_str()) else {
            continue;
        };
        let stem = name.strip_suffix(".gz").unwrap_or(name);
        let Some(batch) = stem
            .strip_prefix("data_batch_")
            .and_then(|s| s.strip_suffix(".bin"))
        else {
            continue;
        };
        let number = batch.parse::<u64>().unwrap_or(u64::MAX);
        found.push(((number, batch.to_owned(), name != stem), path));
    }
    found.sort();
    found.dedup_by(|b, a| a.0.1 == b.0.1);
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// The pixels and labels of one batch.
fn records(path: &Path) -> Result<(Vec<u8>, Vec<u8>), DataError> {
    let mut raw = read(path)?;
    let whole = raw.bytes.len().next_multiple_of(RECORD);
    raw.check_length(whole as u64)?;
    let labels: Vec<u8> = raw.bytes.iter().step_by(RECORD).copied().collect();
    check_labels(path, &labels, CLASSES)?;
    // In place: a batch is tens of megabytes.
    for i in 0..labels.len() {
        let from = i * RECORD + 1;
        raw.bytes
            .copy_within(from..from + RECORD - 1, i * (RECORD - 1));
    }
    raw.bytes.truncate(labels.len() * (RECORD - 1));
    Ok((raw.bytes, labels))
}
