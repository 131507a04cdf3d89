//! EMNIST (Cohen et al., 2017), in the layout of MNIST but with transposed images.

use rayon::prelude::*;

use super::mnist::{SIDE, splits};
use crate::formats::images::transpose;
use crate::source::Request;
use crate::{DataError, Dataset, DatasetInfo, Examples, Scale};

/// The characters of `byclass`. The other splits have some of them.
const CHARACTERS: [&str; 62] = [
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "A", "B", "C", "D", "E", "F", "G", "H", "I",
    "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z", "a", "b",
    "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t", "u",
    "v", "w", "x", "y", "z",
];

/// The characters of splits that merge letters whose cases look alike.
const MERGED: [&str; 47] = [
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "A", "B", "C", "D", "E", "F", "G", "H", "I",
    "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z", "a", "b",
    "d", "e", "f", "g", "h", "n", "q", "r", "t",
];

macro_rules! emnist {
    ($split:literal, $class_names:expr, $published:expr, $doc:literal) => {
        DatasetInfo {
            name: concat!("emnist-", $split),
            doc: $doc,
            classes: $class_names.len(),
            class_names: $class_names,
            shape: &[1, SIDE, SIDE],
            files: &[
                concat!("emnist/emnist-", $split, "-train-images-idx3-ubyte"),
                concat!("emnist/emnist-", $split, "-train-labels-idx1-ubyte"),
                concat!("emnist/emnist-", $split, "-test-images-idx3-ubyte"),
                concat!("emnist/emnist-", $split, "-test-labels-idx1-ubyte"),
            ],
            published: Some($published),
            how: "Unpack the folder gzip of https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip as DIR/emnist",
            read,
            ..DatasetInfo::BASE
        }
    };
}

pub(super) const BALANCED: DatasetInfo = emnist!(
    "balanced",
    &MERGED,
    [112_800, 18_800],
    "handwritten characters, equally many of each (Cohen et al., 2017)"
);
pub(super) const BYCLASS: DatasetInfo = emnist!(
    "byclass",
    &CHARACTERS,
    [697_932, 116_323],
    "all handwritten characters, upper and lower case apart"
);
pub(super) const BYMERGE: DatasetInfo = emnist!(
    "bymerge",
    &MERGED,
    [697_932, 116_323],
    "all handwritten characters, cases that look alike merged"
);
pub(super) const LETTERS: DatasetInfo = emnist!(
    "letters",
    CHARACTERS.split_at(10).1.split_at(26).0,
    [124_800, 20_800],
    "handwritten letters, upper and lower case merged"
);
pub(super) const DIGITS: DatasetInfo = emnist!(
    "digits",
    CHARACTERS.split_at(10).0,
    [240_000, 40_000],
    "handwritten digits, equally many of each"
);
pub(super) const MNIST: DatasetInfo = emnist!(
    "mnist",
    CHARACTERS.split_at(10).0,
    [60_000, 10_000],
    "digits in the sizes of MNIST"
);

fn read(request: &Request<'_>) -> Result<Dataset, DataError> {
    let first = u8::from(request.info.name == LETTERS.name);
    let [train, test] = splits(request, first)?.map(|(mut pixels, labels)| {
        let images = pixels.par_chunks_exact_mut(SIDE * SIDE);
        images.for_each(|image| transpose(image, SIDE));
        Examples::of_images([1, SIDE, SIDE], pixels, labels, Scale::Unit)
    });
    Ok(request.dataset(train, test))
}
