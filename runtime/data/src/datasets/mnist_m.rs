//! MNIST-M (Ganin et al., 2016): for each split a folder of PNG files and a list of their labels.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::DIGITS;
use crate::formats::files::{MOST_TEXT, read};
use crate::notes::start;
use crate::source::Request;
use crate::{DataError, Dataset, DatasetInfo, Examples, Fit, ImageFiles, Scale};

pub(super) const MNIST_M: DatasetInfo = DatasetInfo {
    name: "mnist-m",
    doc: "MNIST's digits over patches of photographs (Ganin et al., 2016)",
    classes: 10,
    class_names: DIGITS,
    shape: &SHAPE,
    files: &[
        "mnist_m/mnist_m_train_labels.txt",
        "mnist_m/mnist_m_train",
        "mnist_m/mnist_m_test_labels.txt",
        "mnist_m/mnist_m_test",
    ],
    published: Some([59_001, 9_001]),
    how: "Unpack mnist_m.tar.gz (linked from http://yaroslav.ganin.net) in DIR",
    read: load,
    ..DatasetInfo::BASE
};

const SHAPE: [usize; 3] = [3, 32, 32];

fn load(request: &Request<'_>) -> Result<Dataset, DataError> {
    let [train_labels, train, test_labels, test] = request.existing()?;
    let train = examples(&train_labels, &train)?;
    Ok(request.dataset(train, examples(&test_labels, &test)?))
}

/// The images that a list of `FILE LABEL` lines names. The list must name every PNG file of the folder.
fn examples(list: &Path, folder: &Path) -> Result<Examples, DataError> {
    let bytes = read(list, MOST_TEXT)?;
    let (mut paths, mut labels) = (Vec::new(), Vec::new());
    for (at, line) in bytes.split_inclusive(|&b| b == b'\n').enumerate() {
        let fields = std::str::from_utf8(line).ok().and_then(|line| {
            let (file, label) = line.trim_end().split_once(' ')?;
            let label = label.parse::<u16>().ok().filter(|&l| l < 10)?;
            // A name, not a path to elsewhere.
            (Path::new(file).file_name() == Some(OsStr::new(file))).then_some((file, label))
        });
        let (file, label) = fields.ok_or_else(|| DataError::Line {
            path: list.to_path_buf(),
            line: at + 1,
            expected: "the name of a file and a label, 0 to 9".to_owned(),
            found: format!("`{}`", start(String::from_utf8_lossy(line).trim_end())),
        })?;
        paths.push(folder.join(file));
        labels.push(label);
    }
    let unreadable = DataError::unreadable(folder);
    let is_png = |path: &Path| path.extension() == Some(OsStr::new("png"));
    let mut num_images = 0;
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        num_images += usize::from(is_png(&entry.map_err(unreadable)?.path()));
    }
    if num_images != labels.len() {
        return Err(DataError::Count {
            images: folder.to_path_buf(),
            num_images,
            labels: list.to_path_buf(),
            num_labels: labels.len(),
        });
    }
    DataError::empty_if(labels.is_empty(), list)?;
    let pixels = ImageFiles::new(paths, SHAPE, Fit::Stretch)?.decode_all()?;
    Ok(Examples::of_images(SHAPE, pixels, labels, Scale::Centred))
}
