//! Idx files, plain or gzipped: MNIST and Fashion-MNIST.
//!
//! An idx file is a magic number (two zero bytes, the element type, the number
//! of dimensions), each dimension as a big-endian 32-bit integer, and the
//! elements.

use std::path::{Path, PathBuf};

use crate::files::{Stream, check_labels, find};
use crate::load::{self, Request};
use crate::notes::Notes;
use crate::{DataError, Dataset, DatasetInfo, Examples, Scale};

pub(crate) const MNIST: DatasetInfo = DatasetInfo {
    name: "mnist",
    doc: "handwritten digits (LeCun et al., 1998)",
    classes: 10,
    class_names: load::DIGITS,
    shape: &[1, SIDE, SIDE],
    files: &[
        "mnist/train-images-idx3-ubyte",
        "mnist/train-labels-idx1-ubyte",
        "mnist/t10k-images-idx3-ubyte",
        "mnist/t10k-labels-idx1-ubyte",
    ],
    how: "Get the four .gz files from https://ossci-datasets.s3.amazonaws.com/mnist/ into DIR/mnist",
    read,
};

pub(crate) const FASHION_MNIST: DatasetInfo = DatasetInfo {
    name: "fashion-mnist",
    doc: "articles of clothing (Xiao et al., 2017)",
    classes: 10,
    class_names: &[
        "t-shirt",
        "trouser",
        "pullover",
        "dress",
        "coat",
        "sandal",
        "shirt",
        "sneaker",
        "bag",
        "ankle boot",
    ],
    shape: &[1, SIDE, SIDE],
    files: &[
        "fashion-mnist/train-images-idx3-ubyte",
        "fashion-mnist/train-labels-idx1-ubyte",
        "fashion-mnist/t10k-images-idx3-ubyte",
        "fashion-mnist/t10k-labels-idx1-ubyte",
    ],
    how: "Get the four .gz files from https://github.com/zalandoresearch/fashion-mnist (data/fashion) \
          into DIR/fashion-mnist",
    read,
};

/// Height and width of the images.
pub(crate) const SIDE: usize = 28;

/// The pixels and labels of some images.
pub(crate) type Labelled = (Vec<u8>, Vec<u16>);

fn read(request: &Request<'_>) -> Result<Dataset, DataError> {
    let [train, test] = splits(request, 0)?
        .map(|(pixels, labels)| Examples::of_images([1, SIDE, SIDE], pixels, labels, Scale::Unit));
    Ok(request.dataset(train, test))
}

/// The pixels and labels of the training and of the test examples: of the dataset's four files
/// of images and labels. Labels are counted from `first` in the files, and from 0 here.
pub(crate) fn splits(request: &Request<'_>, first: u8) -> Result<[Labelled; 2], DataError> {
    let wanted = request.paths()?;
    let found: Vec<PathBuf> = wanted.iter().filter_map(|p| find(p)).collect();
    let [train_images, train_labels, test_images, test_labels] = &found[..] else {
        let missing = |p: &PathBuf| find(p).is_none();
        return Err(request.missing(wanted.into_iter().filter(missing).collect()));
    };
    let split = |images, labels| split(images, labels, first, request);
    let (train, test) = rayon::join(
        || split(train_images, train_labels),
        || split(test_images, test_labels),
    );
    Ok([train?, test?])
}

fn split(
    images: &Path,
    labels: &Path,
    first: u8,
    request: &Request<'_>,
) -> Result<Labelled, DataError> {
    let (shape, pixels) = parse::<3>(images, "images", &request.notes)?;
    let (_, classes) = parse::<1>(labels, "labels", &request.notes)?;
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
    check_labels(labels, &classes, first, request.info.classes)?;
    let classes = classes.into_iter().map(|l| u16::from(l - first));
    Ok((pixels, classes.collect()))
}

/// The dimensions and elements of an idx file of bytes with `DIMS` dimensions.
fn parse<const DIMS: usize>(
    path: &Path,
    what: &'static str,
    notes: &Notes,
) -> Result<([usize; DIMS], Vec<u8>), DataError> {
    let mut stream = Stream::open(path)?;
    let mut header = Vec::new();
    let size = 4 + 4 * DIMS as u64;
    stream.append(&mut header, size);
    let word = |at: usize| {
        let bytes = header.get(4 * at..4 * at + 4)?.first_chunk::<4>()?;
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
            None => return Err(stream.wrong_length(size)),
        }
    }
    // Saturating: a corrupt header must not wrap around to the right length.
    let elements = shape
        .iter()
        .fold(1u64, |n, &dim| n.saturating_mul(dim as u64));
    Ok((shape, stream.rest(elements, notes)?))
}
