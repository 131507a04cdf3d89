//! Datasets by name.

use std::path::Path;

use crate::dataset::image_shape;
use crate::error::nearest;
use crate::synth::SynthDigits;
use crate::{DataError, Dataset, cifar, idx};

/// What a dataset is, for listings.
#[derive(Clone, Copy, Debug)]
pub struct DatasetInfo {
    /// The name it is loaded by.
    pub name: &'static str,
    /// One line about it.
    pub doc: &'static str,
    /// The number of classes.
    pub classes: usize,
    /// The name of each class.
    pub class_names: &'static [&'static str],
    /// The shape of an example: channels, height and width of an image.
    pub shape: &'static [usize],
    /// The files it is read from, relative to the data folder; none for
    /// datasets that are generated. Each may also end in `.gz`.
    pub files: &'static [&'static str],
    /// Where to get the files.
    pub how: &'static str,
}

impl DatasetInfo {
    /// Channels, height and width of an example.
    ///
    /// # Errors
    /// [`ColumnError::NotImages`](crate::ColumnError::NotImages) where it is of another rank.
    pub fn image_shape(&self) -> Result<[usize; 3], DataError> {
        image_shape(self.name, self.shape)
    }
}

pub(crate) const DIGITS: &[&str] = &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// Every dataset that [`load`] knows.
pub const DATASETS: &[DatasetInfo] = &[
    DatasetInfo {
        name: "synth-digits",
        doc: "digits drawn from strokes with affine and elastic distortion; needs no files",
        classes: 10,
        class_names: DIGITS,
        shape: &[1, 28, 28],
        files: &[],
        how: "",
    },
    DatasetInfo {
        name: "synth-digits-rgb",
        doc: "the same digits in colour; needs no files",
        classes: 10,
        class_names: DIGITS,
        shape: &[3, 32, 32],
        files: &[],
        how: "",
    },
    DatasetInfo {
        name: "mnist",
        doc: "handwritten digits (LeCun et al., 1998)",
        classes: 10,
        class_names: DIGITS,
        shape: &[1, 28, 28],
        files: &[
            "mnist/train-images-idx3-ubyte",
            "mnist/train-labels-idx1-ubyte",
            "mnist/t10k-images-idx3-ubyte",
            "mnist/t10k-labels-idx1-ubyte",
        ],
        how: "Get the four .gz files from https://ossci-datasets.s3.amazonaws.com/mnist/ into DIR/mnist",
    },
    DatasetInfo {
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
        shape: &[1, 28, 28],
        files: &[
            "fashion-mnist/train-images-idx3-ubyte",
            "fashion-mnist/train-labels-idx1-ubyte",
            "fashion-mnist/t10k-images-idx3-ubyte",
            "fashion-mnist/t10k-labels-idx1-ubyte",
        ],
        how: "Get the four .gz files from https://github.com/zalandoresearch/fashion-mnist (data/fashion) \
              into DIR/fashion-mnist",
    },
    DatasetInfo {
        name: "cifar-10",
        doc: "small colour photographs (Krizhevsky, 2009)",
        classes: 10,
        class_names: &[
            "airplane",
            "automobile",
            "bird",
            "cat",
            "deer",
            "dog",
            "frog",
            "horse",
            "ship",
            "truck",
        ],
        shape: &[3, 32, 32],
        files: &[
            "cifar-10-batches-bin/data_batch_*.bin",
            "cifar-10-batches-bin/test_batch.bin",
        ],
        how: "Unpack https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz in DIR",
    },
];

/// The dataset called `name`. Datasets of files are read from their folder in
/// `data_dir`; generated ones are a function of `seed`, which the others ignore.
///
/// # Errors
/// An unknown name, no `data_dir` for a dataset of files, and whatever is
/// wrong with the files: see [`DataError`].
pub fn load(name: &str, data_dir: Option<&Path>, seed: u64) -> Result<Dataset, DataError> {
    let Some(info) = DATASETS.iter().find(|d| d.name == name) else {
        let nearest = nearest(name, DATASETS.iter().map(|d| d.name));
        return Err(DataError::UnknownDataset {
            name: name.to_owned(),
            nearest,
        });
    };
    if info.files.is_empty() {
        let rgb = info.shape[0] == 3;
        let synth = if rgb {
            SynthDigits::rgb()
        } else {
            SynthDigits::default()
        };
        return Ok(SynthDigits { seed, ..synth }.generate());
    }
    let dir = data_dir.ok_or(DataError::NoDirectory {
        dataset: info.name,
        files: info.files,
        how: info.how,
    })?;
    let (train, test) = match info.name {
        "cifar-10" => cifar::load(info, &dir.join("cifar-10-batches-bin"))?,
        folder => idx::load(info, &dir.join(folder))?,
    };
    Ok(Dataset::new(
        info.name,
        train,
        test,
        info.class_names.iter().copied(),
    ))
}
