//! CIFAR-10 and CIFAR-100: binary batches, plain or gzipped.
//!
//! A batch is a sequence of records. A record is a label (in CIFAR-100 the superclass, then the class)
//! and the red, green and blue planes of a 32x32 image. The number of batches and their lengths are
//! not prescribed.

mod names;

use std::fs;
use std::path::{Path, PathBuf};

use crate::formats::files::{Stream, check_labels};
use crate::notes::Notes;
use crate::source::Request;
use crate::{DataError, DatasetInfo, Examples, Scale};

const SHAPE: [usize; 3] = [3, 32, 32];
const PIXELS: usize = 3 * 32 * 32;

pub(super) const CIFAR_10: DatasetInfo = DatasetInfo {
    name: "cifar-10",
    doc: "small colour photographs (Krizhevsky, 2009)",
    classes: names::CIFAR_10.len(),
    class_names: &names::CIFAR_10,
    shape: &SHAPE,
    files: &[
        "cifar-10-batches-bin/data_batch_*.bin",
        "cifar-10-batches-bin/test_batch*.bin",
    ],
    published: Some([50_000, 10_000]),
    how: "Unpack https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz in DIR",
    read: |request| {
        let [train, test] = splits::<1>(request, [names::CIFAR_10.len()])?;
        Ok(request.dataset(train.examples(0), test.examples(0)))
    },
    ..DatasetInfo::BASE
};

pub(super) const CIFAR_100: DatasetInfo = DatasetInfo {
    name: "cifar-100",
    doc: "small colour photographs of 100 classes in 20 groups (Krizhevsky, 2009)",
    classes: names::CIFAR_100.len(),
    class_names: &names::CIFAR_100,
    shape: &SHAPE,
    files: &["cifar-100-binary/train*.bin", "cifar-100-binary/test*.bin"],
    published: Some([50_000, 10_000]),
    how: "Unpack https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz in DIR",
    read: |request| {
        let classes = [names::SUPERCLASSES.len(), names::CIFAR_100.len()];
        let [train, test] = splits::<2>(request, classes)?;
        let [in_train, in_test] = [&train, &test].map(Batches::groups);
        let data = request.dataset(train.examples(1), test.examples(1));
        Ok(data.with_groups(in_train, in_test, names::SUPERCLASSES)?)
    },
    ..DatasetInfo::BASE
};

/// The largest number of images that is accepted of the gzipped files of a split: twice the published 50,000.
const MOST_IMAGES: usize = 100_000;

/// The records of several batches, in order.
struct Batches<const LABELS: usize> {
    pixels: Vec<u8>,
    /// For each place of a label in a record, the labels of all records.
    labels: [Vec<u8>; LABELS],
}

impl<const LABELS: usize> Batches<LABELS> {
    fn examples(self, label: usize) -> Examples {
        let labels = self.labels[label].iter().copied().map(u16::from).collect();
        Examples::of_images(SHAPE, self.pixels, labels, Scale::Centred)
    }

    fn groups(&self) -> Vec<u32> {
        self.labels[0].iter().copied().map(u32::from).collect()
    }
}

/// The training and the test batches. The dataset's files are two patterns, one for each.
fn splits<const LABELS: usize>(
    request: &Request<'_>,
    classes: [usize; LABELS],
) -> Result<[Batches<LABELS>; 2], DataError> {
    let patterns = request.paths()?;
    let found = patterns.iter().map(|pattern| batches(pattern));
    let found = found.collect::<Result<Vec<_>, _>>()?;
    let [train, test] = &found[..] else {
        return Err(request.missing(patterns));
    };
    if train.is_empty() || test.is_empty() {
        let none = patterns
            .into_iter()
            .zip(&found)
            .filter(|(_, f)| f.is_empty());
        return Err(request.missing(none.map(|(pattern, _)| pattern).collect()));
    }
    let notes = &request.notes;
    let (train, test) = rayon::join(
        || records(train, classes, notes),
        || records(test, classes, notes),
    );
    Ok([train?, test?])
}

/// The files that match a pattern with one `*`, in the order of the numbers in its place. Of a plain
/// file and its gzipped copy, the plain one is taken.
fn batches(pattern: &Path) -> Result<Vec<PathBuf>, DataError> {
    let folder = pattern.parent().unwrap_or(Path::new("."));
    let (prefix, suffix) = pattern
        .file_name()
        .and_then(|name| name.to_str()?.split_once('*'))
        .unwrap_or_default();
    let unreadable = DataError::unreadable(folder);
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
            .strip_prefix(prefix)
            .and_then(|s| s.strip_suffix(suffix))
        else {
            continue;
        };
        let number = batch.trim_matches('_').parse::<u64>().unwrap_or(u64::MAX);
        found.push(((number, batch.to_owned(), name != stem), path));
    }
    found.sort();
    found.dedup_by(|b, a| a.0.1 == b.0.1);
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// The records of the files. Pixels are read straight into their final place.
fn records<const LABELS: usize>(
    files: &[PathBuf],
    classes: [usize; LABELS],
    notes: &Notes,
) -> Result<Batches<LABELS>, DataError> {
    let record = LABELS + PIXELS;
    let most = (MOST_IMAGES * record) as u64;
    let streams = files.iter().map(|path| Stream::open(path, most));
    let streams = streams.collect::<Result<Vec<_>, _>>()?;
    let sizes = streams.iter().map(Stream::size_hint);
    let mut pixels = Vec::with_capacity(sizes.map(|size| size / record * PIXELS).sum());
    let mut labels = [const { Vec::new() }; LABELS];
    for (path, mut stream) in files.iter().zip(streams) {
        let first = labels.first().map_or(0, Vec::len);
        stream.limit_to(most.saturating_sub((first * record) as u64));
        loop {
            let mut head = [0; LABELS];
            let found = stream.fill(&mut head) + stream.append(&mut pixels, PIXELS as u64);
            if found == 0 {
                break;
            }
            if found < record as u64 {
                let whole = (labels[0].len() - first + 1) * record;
                return Err(stream.wrong_length(whole as u64));
            }
            for (labels, label) in labels.iter_mut().zip(head) {
                labels.push(label);
            }
        }
        stream.end(None, notes)?;
        for (labels, classes) in labels.iter().zip(classes) {
            check_labels(path, &labels[first..], 0, classes)?;
        }
    }
    if let Some(path) = files.first() {
        DataError::empty_if(pixels.is_empty(), path)?;
    }
    Ok(Batches { pixels, labels })
}
