//! Folders of images: a folder for each class, and perhaps one more level for clients or domains.
//!
//! Only the names of files are read at first. Files are decoded when a batch needs them. Decoded images are kept
//! in memory if all of them fit, or else in a file.

mod decoded;
mod index;
mod measure;

use std::path::Path;
use std::sync::Arc;

use super::parts::Parts;
use super::{Broken, OwnDataError, ReadOptions, labels};
use crate::notes::count;
use crate::{Column, DataError, Dataset, Examples, Fit, ImageFiles};
use index::Index;

/// Notes name so many broken files.
const NAMED: usize = 5;

pub(super) fn read(
    dir: &Path,
    reading: &ReadOptions,
    cache: Option<&Path>,
    seed: u64,
) -> Result<Dataset, DataError> {
    let index = Index::of(dir)?;
    reading.check_test_share(dir, index.test.is_some())?;
    let shape = measure::shape(&index.paths, reading)?;
    let Index {
        paths,
        labels: all,
        groups,
        test,
        classes,
        group_names,
        mut notes,
    } = index;
    notes.extend(shape.notes);
    let files = ImageFiles::new(paths, shape.shape, Fit::Stretch)?;
    let files = Arc::new(decoded::kept(files, dir, cache, &mut notes));
    let good = match reading.broken {
        Broken::Stop => (0..files.len()).collect(),
        Broken::Skip => decodable(dir, &files, &mut notes)?,
    };
    let pick = |values: &[u16]| -> Vec<u16> { good.iter().map(|&i| values[i]).collect() };
    let labels = pick(&all);
    let groups: Vec<Option<u32>> = good.iter().map(|&i| groups[i]).collect();
    // A part may lack them, but nothing is held out where there are parts.
    let of_all: Option<Vec<u32>> = groups.iter().copied().collect();
    let (test_dir, test) = test.unzip();
    let is_test = test.map(|test| good.iter().map(|&i| test[i]).collect());
    let Parts {
        train,
        test,
        divided,
    } = reading.parts(is_test, (&labels, of_all.as_deref()), seed);
    // All files of a part may be broken.
    let path = match (train.is_empty(), test_dir) {
        (true, _) => Some(dir.to_path_buf()),
        (false, test_dir) => test_dir.filter(|_| test.is_empty()),
    };
    if let Some(path) = path {
        return Err(DataError::Empty { path });
    }
    let rows = |part: &[usize]| -> Arc<[usize]> { part.iter().map(|&i| good[i]).collect() };
    let scale = reading.byte_scale(|| measure::moments(&files, &rows(&train)))?;
    let all = Column::images("x", files, scale)?;
    let examples = |part: &[usize]| {
        let labels: Vec<u16> = part.iter().map(|&i| labels[i]).collect();
        Examples::of_columns(vec![all.subset(&rows(part))], labels)
    };
    let (in_train, in_test) = (examples(&train)?, examples(&test)?);
    if divided {
        notes.extend(labels::notes(&classes, in_train.labels(), in_test.labels()));
    }
    let mut data = Dataset::new("", in_train, in_test, classes);
    let of = |part: &[usize]| -> Option<Arc<[u32]>> { part.iter().map(|&i| groups[i]).collect() };
    data.groups = of(&train);
    data.test_groups = of(&test).filter(|_| data.groups.is_some());
    data.group_names = group_names;
    data.notes = notes;
    Ok(data)
}

/// The files that can be decoded, with a note on the others.
fn decodable(
    dir: &Path,
    files: &ImageFiles,
    notes: &mut Vec<String>,
) -> Result<Vec<usize>, DataError> {
    let broken = files.broken();
    for (_, error) in broken.iter().take(NAMED) {
        notes.push(format!("left out: {error}"));
    }
    if broken.len() > NAMED {
        let more = broken.len() - NAMED;
        let more = count(more, "more file", "more files");
        notes.push(format!("left out: {more} that cannot be decoded"));
    }
    if let Some((_, first)) = broken.first().filter(|_| broken.len() == files.len()) {
        return Err(OwnDataError::AllBroken {
            dir: dir.to_path_buf(),
            images: files.len(),
            example: first.to_string(),
        }
        .into());
    }
    let mut bad = broken.iter().map(|(at, _)| *at).peekable();
    Ok((0..files.len())
        .filter(|at| bad.next_if_eq(at).is_none())
        .collect())
}
