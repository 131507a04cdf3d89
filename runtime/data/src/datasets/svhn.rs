//! SVHN (Netzer et al., 2011): cropped digits in MATLAB files.
//!
//! `X` is of bytes, 32 x 32 x 3 x n, the row changing fastest; `y` is of n labels, in which 10
//! stands for the digit 0.

mod mat;
mod reader;

use std::path::Path;

use rayon::prelude::*;

use crate::files::check_labels;
use crate::idx::Labelled;
use crate::load::{DIGITS, Request};
use crate::{DataError, Dataset, DatasetInfo, Examples, Scale};
use mat::Array;
use reader::wrong;

pub(crate) const SVHN: DatasetInfo = DatasetInfo {
    name: "svhn",
    doc: "house numbers in photographs, one digit each (Netzer et al., 2011)",
    classes: 10,
    class_names: DIGITS,
    shape: &[3, SIDE, SIDE],
    files: &["svhn/train_32x32.mat", "svhn/test_32x32.mat"],
    how: "Get both files from http://ufldl.stanford.edu/housenumbers/ into DIR/svhn",
    read,
};

const SIDE: usize = 32;
const PLANE: usize = SIDE * SIDE;

fn read(request: &Request<'_>) -> Result<Dataset, DataError> {
    let paths = request.paths()?;
    let absent = |p: &&_| !Path::is_file(p);
    if paths.iter().any(|p| absent(&&**p)) {
        let missing = paths.into_iter().filter(|p| !p.is_file());
        return Err(request.missing(missing.collect()));
    }
    let (train, test) = rayon::join(|| split(&paths[0]), || split(&paths[1]));
    let [train, test] = [train?, test?].map(|(pixels, labels)| {
        Examples::of_images([3, SIDE, SIDE], pixels, labels, Scale::Centred)
    });
    Ok(request.dataset(train, test))
}

fn split(path: &Path) -> Result<Labelled, DataError> {
    let mut arrays = mat::arrays(path)?;
    let mut named = |name: &'static str| match arrays.iter().position(|a| a.name == name) {
        Some(at) => Ok(arrays.swap_remove(at)),
        None => Err(wrong(
            path,
            0,
            format!("an array `{name}`"),
            "none".to_owned(),
        )),
    };
    let (x, y) = (named("X")?, named("y")?);
    let n = y.dims.iter().product::<usize>();
    if x.dims != [SIDE, SIDE, 3, n] && (n != 1 || x.dims != [SIDE, SIDE, 3]) {
        let expected = format!("`X` of 32 x 32 x 3 x {n}, an image for each label");
        return Err(wrong(path, x.offset, expected, format!("{:?}", x.dims)));
    }
    if n == 0 {
        let path = path.to_path_buf();
        return Err(DataError::Empty { path });
    }
    let labels = labels(path, &y)?;
    let mut pixels = x.bytes(path)?;
    pixels.par_chunks_exact_mut(PLANE).for_each(transpose);
    Ok((pixels, labels))
}

/// Labels from 0: 10 stands for 0.
fn labels(path: &Path, y: &Array) -> Result<Vec<u16>, DataError> {
    let numbers = y.numbers(path)?;
    let byte = |&v: &f64| if v.fract() == 0.0 { v as u8 } else { 0 };
    let labels: Vec<u8> = numbers.iter().map(byte).collect();
    check_labels(path, &labels, 1, 10)?;
    Ok(labels.into_iter().map(|l| u16::from(l % 10)).collect())
}

fn transpose(plane: &mut [u8]) {
    for row in 0..SIDE {
        for column in 0..row {
            plane.swap(row * SIDE + column, column * SIDE + row);
        }
    }
}
