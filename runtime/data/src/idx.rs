//! MNIST and Fashion-MNIST: idx files, plain or gzipped.
//!
//! An idx file is a magic number (two zero bytes, the element type, the number
//! of dimensions), each dimension as a big-endian 32-bit integer, and the
//! elements.

use std::path::{Path, PathBuf};

use crate::files::{check_labels, find, read};
use crate::{DataError, DatasetInfo, Examples, Scale};

/// The usual names: training images, training labels, test images, test labels.
pub const NAMES: [&str; 4] = [
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
];

const CLASSES: usize = 10;
const SIDE: usize = 28;

/// Training and test examples from the four files of [`NAMES`] in `folder`.
///
/// # Errors
/// Missing files, wrong magic numbers or sizes, truncated or corrupt files,
/// images and labels that differ in number, labels that are not digits.
pub fn load(info: &'static DatasetInfo, folder: &Path) -> Result<(Examples, Examples), DataError> {
    let wanted = NAMES.map(|name| folder.join(name));
    let found: Vec<PathBuf> = wanted.iter().filter_map(|p| find(p)).collect();
    let [train_images, train_labels, test_images, test_labels] = &found[..] else {
        let missing = |p: &PathBuf| find(p).is_none();
        return Err(DataError::Missing {
            dataset: info.name,
            looked_for: wanted.into_iter().filter(missing).collect(),
            how: info.how,
        });
    };
    let (train, test) = rayon::join(
        || examples(train_images, train_labels),
        || examples(test_images, test_labels),
    );
    Ok((train?, test?))
}

/// Examples from a file of 28x28 images and a file of their labels. A name
/// that ends in `.gz` is unpacked.
///
/// # Errors
/// As [`load`], less the missing files.
pub fn examples(images: &Path, labels: &Path) -> Result<Examples, DataError> {
    let (shape, pixels) = parse::<3>(images, "images")?;
    let (_, classes) = parse::<1>(labels, "labels")?;
    let [num_images, height, width] = shape;
    if [height, width] != [SIDE, SIDE] {
        return Err(DataError::ImageSize {
            path: images.to_path_buf(),
            expected: [SIDE, SIDE],
            found: [height, width],
        });
    }
    if num_images != classes.len() {
        return Err(DataError::Count {
            images: images.to_path_buf(),
            num_images,
            labels: labels.to_path_buf(),
            num_labels: classes.len(),
        });
    }
    if num_images == 0 {
        return Err(DataError::Empty {
            path: images.to_path_buf(),
        });
    }
    check_labels(labels, &classes, CLASSES)?;
    let classes: Vec<u16> = classes.into_iter().map(u16::from).collect();
    Ok(Examples::new(
        [1, SIDE, SIDE],
        pixels,
        classes,
        Scale::Unit,
    )?)
}

/// The dimensions and elements of an idx file of bytes with `DIMS` dimensions.
fn parse<const DIMS: usize>(
    path: &Path,
    what: &'static str,
) -> Result<([usize; DIMS], Vec<u8>), DataError> {
    let mut raw = read(path)?;
    let header = 4 + 4 * DIMS;
    let word = |at: usize| {
        let bytes = raw.bytes.get(4 * at..4 * at + 4)?.first_chunk::<4>()?;
        Some(u32::from_be_bytes(*bytes))
    };
    // 8 is the code of unsigned bytes.
    let expected = 0x0800 + DIMS as u32;
    if let Some(found) = word(0).filter(|&found| found != expected) {
        return Err(DataError::Magic {
            path: path.to_path_buf(),
            what,
            expected,
            found,
        });
    }
    let mut shape = [0; DIMS];
    for (i, dim) in shape.iter_mut().enumerate() {
        match word(i + 1) {
            Some(size) => *dim = size as usize,
            None => return Err(raw.wrong_length(header as u64)),
        }
    }
    // Saturating: a corrupt header must not wrap around to the right length.
    let elements = shape
        .iter()
        .fold(1u64, |n, &dim| n.saturating_mul(dim as u64));
    raw.check_length(elements.saturating_add(header as u64))?;
    raw.bytes.drain(..header);
    Ok((shape, raw.bytes))
}
