//! SVHN (Netzer et al., 2011): cropped digits in MATLAB files.
//!
//! The array `X` holds the bytes of n images, 32 x 32 x 3 x n, in column-major order, so that the row
//! changes fastest. The array `y` holds n labels, and the label 10 stands for the digit 0.

use std::path::Path;

use rayon::prelude::*;

use super::DIGITS;
use crate::formats::files::check_labels;
use crate::formats::images::transpose;
use crate::formats::mat::{Array, arrays, wrong};
use crate::source::Request;
use crate::{DataError, Dataset, DatasetInfo, Examples, Scale};

pub(super) const SVHN: DatasetInfo = DatasetInfo {
    name: "svhn",
    doc: "house numbers in photographs, one digit each (Netzer et al., 2011)",
    classes: 10,
    class_names: DIGITS,
    shape: &[3, SIDE, SIDE],
    files: &["svhn/train_32x32.mat", "svhn/test_32x32.mat"],
    published: Some([73_257, 26_032]),
    how: "Get both files from http://ufldl.stanford.edu/housenumbers/ into DIR/svhn",
    read,
    ..DatasetInfo::BASE
};

const SIDE: usize = 32;
/// The largest number of bytes that is accepted of compressed arrays. The longest published file, of 531,131
/// further digits, has 1.6 GB.
const MOST_BYTES: u64 = 1 << 31;

fn read(request: &Request<'_>) -> Result<Dataset, DataError> {
    let [train, test] = request.existing()?;
    let (train, test) = rayon::join(|| split(&train), || split(&test));
    let [train, test] = [train?, test?].map(|(pixels, labels)| {
        Examples::of_images([3, SIDE, SIDE], pixels, labels, Scale::Centred)
    });
    Ok(request.dataset(train, test))
}

fn split(path: &Path) -> Result<(Vec<u8>, Vec<u16>), DataError> {
    let mut arrays = arrays(path, MOST_BYTES)?;
    let mut named = |name: &'static str| match arrays.iter().position(|a| a.name == name) {
        Some(at) => Ok(arrays.swap_remove(at)),
        None => Err(wrong(path, 0, format!("an array `{name}`"), "none")),
    };
    let (x, y) = (named("X")?, named("y")?);
    let n = y.dims.iter().product::<usize>();
    if x.dims != [SIDE, SIDE, 3, n] && (n != 1 || x.dims != [SIDE, SIDE, 3]) {
        let expected = format!("`X` of 32 x 32 x 3 x {n}, an image for each label");
        return Err(wrong(path, x.offset, expected, format!("{:?}", x.dims)));
    }
    DataError::empty_if(n == 0, path)?;
    let labels = labels(path, &y)?;
    let mut pixels = x.bytes(path)?;
    let planes = pixels.par_chunks_exact_mut(SIDE * SIDE);
    planes.for_each(|plane| transpose(plane, SIDE));
    Ok((pixels, labels))
}

/// The labels, with 10 replaced by 0.
fn labels(path: &Path, y: &Array) -> Result<Vec<u16>, DataError> {
    let numbers = y.numbers(path)?;
    let byte = |&v: &f64| if v.fract() == 0.0 { v as u8 } else { 0 };
    let labels: Vec<u8> = numbers.iter().map(byte).collect();
    check_labels(path, &labels, 1, 10)?;
    Ok(labels.into_iter().map(|l| u16::from(l % 10)).collect())
}
