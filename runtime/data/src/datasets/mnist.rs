//! MNIST (LeCun et al., 1998), and the reader of all datasets in its layout: an idx file of images and
//! one of labels for each split.

use std::path::Path;

use super::DIGITS;
use crate::formats::files::check_labels;
use crate::formats::idx::parse;
use crate::source::Request;
use crate::{DataError, Dataset, DatasetInfo, Examples, Scale};

pub(super) const MNIST: DatasetInfo = DatasetInfo {
    name: "mnist",
    doc: "handwritten digits (LeCun et al., 1998)",
    classes: 10,
    class_names: DIGITS,
    shape: &[1, SIDE, SIDE],
    files: &[
        "mnist/train-images-idx3-ubyte",
        "mnist/train-labels-idx1-ubyte",
        "mnist/t10k-images-idx3-ubyte",
        "mnist/t10k-labels-idx1-ubyte",
    ],
    published: Some([60_000, 10_000]),
    how: "Get the four .gz files from https://ossci-datasets.s3.amazonaws.com/mnist/ into DIR/mnist",
    read,
    ..DatasetInfo::BASE
};

/// Height and width of the images.
pub(super) const SIDE: usize = 28;

/// The bytes and the labels of the images of a split.
type Labelled = (Vec<u8>, Vec<u16>);

pub(super) fn read(request: &Request<'_>) -> Result<Dataset, DataError> {
    let [train, test] = splits(request, 0)?
        .map(|(pixels, labels)| Examples::of_images([1, SIDE, SIDE], pixels, labels, Scale::Unit));
    Ok(request.dataset(train, test))
}

/// Reads the dataset's four files: training images, training labels, test images and test labels.
/// Labels count from `first` in the files and from 0 in the result.
pub(super) fn splits(request: &Request<'_>, first: u8) -> Result<[Labelled; 2], DataError> {
    let [train_images, train_labels, test_images, test_labels] = request.existing()?;
    let (train, test) = rayon::join(
        || split(&train_images, &train_labels, first, request),
        || split(&test_images, &test_labels, first, request),
    );
    Ok([train?, test?])
}

fn split(
    images: &Path,
    labels: &Path,
    first: u8,
    request: &Request<'_>,
) -> Result<Labelled, DataError> {
    let (shape, pixels) = parse::<3>(images, "images", SIDE * SIDE, &request.notes)?;
    let (_, classes) = parse::<1>(labels, "labels", 1, &request.notes)?;
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
    DataError::empty_if(num_images == 0, images)?;
    check_labels(labels, &classes, first, request.info.classes)?;
    let classes = classes.into_iter().map(|l| u16::from(l - first));
    Ok((pixels, classes.collect()))
}
