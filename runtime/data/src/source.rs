//! Datasets by name.

use std::path::{Path, PathBuf};

use crate::dataset::input_shape;
use crate::error::nearest;
use crate::notes::Notes;
use crate::text::listed;
use crate::{
    DataError, Dataset, Examples, adult, cifar, digits, emnist, folders, idx, mnist_m, svhn, synth,
    usps,
};

/// What a dataset is, for listings.
#[derive(Clone, Copy, Debug)]
pub struct DatasetInfo {
    /// The name it is loaded by.
    pub name: &'static str,
    /// One line about it.
    pub doc: &'static str,
    /// The number of classes.
    pub classes: usize,
    /// The name of each class; none where the files have them.
    pub class_names: &'static [&'static str],
    /// The shape of an example: channels, height and width of an image.
    pub shape: &'static [usize],
    /// The files it is read from, relative to the data folder; none for datasets that are
    /// generated.
    pub files: &'static [&'static str],
    /// Where to get the files.
    pub how: &'static str,
    pub(crate) read: fn(&Request<'_>) -> Result<Dataset, DataError>,
}

impl DatasetInfo {
    /// The dataset called `name`.
    ///
    /// # Errors
    /// [`DataError::UnknownDataset`].
    pub fn find(name: &str) -> Result<&'static Self, DataError> {
        let unknown = || DataError::UnknownDataset {
            name: name.to_owned(),
            nearest: nearest(name, DATASETS.iter().map(|d| d.name)),
        };
        DATASETS.iter().find(|d| d.name == name).ok_or_else(unknown)
    }

    /// Name and shape of the columns besides inputs and labels that every example has, as far as they
    /// are known without the files.
    pub fn columns(&self) -> Vec<(String, Vec<usize>)> {
        match self.protected() {
            [] => listed::columns(self.name).unwrap_or_default(),
            names => vec![(adult::PROTECTED_COLUMN.to_owned(), vec![names.len()])],
        }
    }

    /// The names of the attributes in the column `protected`, 1 where an example has one; none of
    /// data without that column.
    pub fn protected(&self) -> &'static [&'static str] {
        let people = [adult::HALVES.name, adult::PUBLISHED.name];
        match people.contains(&self.name) {
            true => &adult::PROTECTED,
            false => &[],
        }
    }

    /// How many words models are told of where the files are not read, of a dataset with words. The
    /// files' own vocabularies differ.
    pub fn words(&self) -> Option<usize> {
        listed::columns(self.name).map(|_| NOMINAL_WORDS)
    }

    /// What a model takes as channels, height and width; see [`Examples::input_shape`].
    ///
    /// # Errors
    /// [`ColumnError::NotImages`](crate::ColumnError::NotImages) where it is of another rank.
    pub fn input_shape(&self) -> Result<[usize; 3], DataError> {
        input_shape(self.name, self.shape)
    }
}

const NOMINAL_WORDS: usize = 1000;

/// What [`DatasetInfo::read`] is asked for.
pub(crate) struct Request<'a> {
    pub info: &'static DatasetInfo,
    data_dir: Option<&'a Path>,
    pub seed: u64,
    pub notes: Notes,
}

impl Request<'_> {
    /// A file or folder by its place in the data folder.
    pub fn path(&self, place: &str) -> Result<PathBuf, DataError> {
        let dir = self.data_dir.ok_or(DataError::NoDirectory {
            dataset: self.info.name,
            files: self.info.files,
            how: self.info.how,
        })?;
        Ok(dir.join(place))
    }

    /// The dataset's files in the data folder, in their order.
    pub fn paths(&self) -> Result<Vec<PathBuf>, DataError> {
        self.info.files.iter().map(|file| self.path(file)).collect()
    }

    /// Another dataset from the same data folder, its notes among this one's.
    pub fn load(&self, name: &str) -> Result<Dataset, DataError> {
        let data = load(name, self.data_dir, self.seed)?;
        data.notes
            .iter()
            .cloned()
            .for_each(|note| self.notes.add(note));
        Ok(data)
    }

    /// The error of files that are not there.
    pub fn missing(&self, looked_for: Vec<PathBuf>) -> DataError {
        DataError::Missing {
            dataset: self.info.name,
            looked_for,
            how: self.info.how,
        }
    }

    /// The dataset of these examples, its name and classes as listed.
    pub fn dataset(&self, train: Examples, test: Examples) -> Dataset {
        let classes = self.info.class_names.iter().copied();
        Dataset::new(self.info.name, train, test, classes)
    }
}

pub(crate) const DIGITS: &[&str] = &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// Every dataset that [`load`] knows.
pub const DATASETS: &[DatasetInfo] = &[
    synth::GREY,
    synth::RGB,
    idx::MNIST,
    idx::FASHION_MNIST,
    emnist::BALANCED,
    emnist::BYCLASS,
    emnist::BYMERGE,
    emnist::LETTERS,
    emnist::DIGITS,
    emnist::MNIST,
    usps::USPS,
    mnist_m::MNIST_M,
    svhn::SVHN,
    digits::DIGITS,
    cifar::CIFAR_10,
    cifar::CIFAR_100,
    folders::OFFICE_CALTECH_10,
    folders::OFFICE_31,
    folders::PACS,
    folders::DOMAINNET,
    folders::DOMAINNET_10,
    adult::HALVES,
    adult::PUBLISHED,
    listed::FLICKR8K,
    listed::COCO,
    listed::EASY_VQA,
    listed::DAQUAR,
    listed::VQA_V2,
];

/// The dataset called `name`. Datasets of files are read from their folder in `data_dir`; `seed`
/// is that of generated ones and of random splits into training and test examples.
///
/// # Errors
/// An unknown name, no `data_dir` for a dataset of files, and whatever is
/// wrong with the files: see [`DataError`].
pub fn load(name: &str, data_dir: Option<&Path>, seed: u64) -> Result<Dataset, DataError> {
    let info = DatasetInfo::find(name)?;
    let request = Request {
        info,
        data_dir,
        seed,
        notes: Notes::default(),
    };
    let mut data = (info.read)(&request)?;
    data.notes.extend(request.notes.take());
    Ok(data)
}
