//! The description of a dataset before it is read, and the request that its reader is given.
//!
//! Each dataset is a [`DatasetInfo`]: its name, its shape, its files and the function that reads
//! them. [`datasets`](crate::datasets) lists them all.

use std::path::{Path, PathBuf};

use crate::dataset::input_shape;
use crate::formats::files::find;
use crate::notes::Notes;
use crate::{DataError, Dataset, Examples};

/// Description of a dataset, known without its files.
#[derive(Clone, Copy, Debug)]
pub struct DatasetInfo {
    /// The name it is loaded by.
    pub name: &'static str,
    /// One line about it.
    pub doc: &'static str,
    /// The number of classes.
    pub classes: usize,
    /// The name of each class. Empty if the files define the classes.
    pub class_names: &'static [&'static str],
    /// The shape of an example: channels, height and width of an image.
    pub shape: &'static [usize],
    /// Name and shape of the columns besides inputs and labels.
    pub columns: &'static [(&'static str, &'static [usize])],
    /// The names of the attributes in the column `protected`, which is 1 where an example has one.
    pub protected: &'static [&'static str],
    /// Number of words in the vocabulary that a model is built for while the files have not been
    /// read. `None` for datasets without text. The files define the actual vocabulary.
    pub words: Option<usize>,
    /// The files it is read from, relative to the data folder. Empty for generated datasets.
    pub files: &'static [&'static str],
    /// The number of training and test examples of the published files, where it is known.
    pub published: Option<[usize; 2]>,
    /// Where to get the files. `DIR` stands for the data folder.
    pub how: &'static str,
    pub(crate) read: fn(&Request<'_>) -> Result<Dataset, DataError>,
}

impl DatasetInfo {
    /// What most datasets have in common: no columns besides inputs and labels.
    pub(crate) const BASE: Self = Self {
        name: "",
        doc: "",
        classes: 0,
        class_names: &[],
        shape: &[],
        columns: &[],
        protected: &[],
        words: None,
        files: &[],
        published: None,
        how: "",
        read: |request| Err(request.missing(vec![])),
    };

    /// Reads the dataset. `data_dir` is the data folder, which generated datasets do without. `seed`
    /// determines generated examples and random splits into training and test examples.
    ///
    /// # Errors
    /// [`DataError::NoDirectory`] without a folder that is needed, and whatever is wrong with the
    /// files.
    pub fn load(&'static self, data_dir: Option<&Path>, seed: u64) -> Result<Dataset, DataError> {
        let request = Request {
            info: self,
            data_dir,
            seed,
            notes: Notes::default(),
        };
        let mut data = (self.read)(&request)?;
        data.notes.extend(request.notes.take());
        data.notes.extend(self.subset(&data));
        Ok(data)
    }

    /// What to say of data that is a part of the published one.
    fn subset(&self, data: &Dataset) -> Option<String> {
        let [train, test] = self.published?;
        let parts = [(&data.train, train, "training"), (&data.test, test, "test")];
        let parts = parts
            .into_iter()
            .filter(|(examples, all, _)| examples.len() != *all)
            .map(|(examples, all, what)| {
                let [found, all] = [examples.len(), all].map(grouped);
                format!("{found} of {all} {what} examples")
            });
        let parts: Vec<String> = parts.collect();
        match parts.is_empty() {
            true => None,
            false => Some(format!("{}: {} found", self.name, parts.join(" and "))),
        }
    }

    /// Channels, height and width of a model's input; see [`Examples::input_shape`].
    ///
    /// # Errors
    /// [`ColumnError::NotImages`](crate::ColumnError::NotImages) if examples have another rank.
    pub fn input_shape(&self) -> Result<[usize; 3], DataError> {
        input_shape(self.name, self.shape)
    }
}

/// What the reader of a dataset is asked for.
pub(crate) struct Request<'a> {
    pub info: &'static DatasetInfo,
    data_dir: Option<&'a Path>,
    pub seed: u64,
    /// Collects remarks about files that are accepted but unusual.
    pub notes: Notes,
}

impl Request<'_> {
    /// The path of a file or folder of the data folder.
    pub fn path(&self, place: &str) -> Result<PathBuf, DataError> {
        let dir = self.data_dir.ok_or(DataError::NoDirectory {
            dataset: self.info.name,
            files: self.info.files,
            how: self.info.how,
        })?;
        Ok(dir.join(place))
    }

    /// The paths of the dataset's files, in the order in which it lists them.
    pub fn paths(&self) -> Result<Vec<PathBuf>, DataError> {
        self.info.files.iter().map(|file| self.path(file)).collect()
    }

    /// The paths of the dataset's `N` files and folders, with `.gz` added for a file that is there in
    /// gzipped form only.
    ///
    /// # Errors
    /// [`DataError::Missing`] with all paths that do not exist.
    pub fn existing<const N: usize>(&self) -> Result<[PathBuf; N], DataError> {
        let wanted = self.paths()?;
        let found: Vec<_> = wanted.iter().filter_map(|path| find(path)).collect();
        found.try_into().map_err(|_| {
            let absent = wanted.into_iter().filter(|path| find(path).is_none());
            self.missing(absent.collect())
        })
    }

    /// Reads another dataset from the same data folder and adopts its notes.
    pub fn load(&self, info: &'static DatasetInfo) -> Result<Dataset, DataError> {
        let data = info.load(self.data_dir, self.seed)?;
        data.notes
            .iter()
            .for_each(|note| self.notes.add(note.clone()));
        Ok(data)
    }

    /// The error that some paths do not exist.
    pub fn missing(&self, looked_for: Vec<PathBuf>) -> DataError {
        DataError::Missing {
            dataset: self.info.name,
            looked_for,
            how: self.info.how,
        }
    }

    /// The dataset of these examples, with the name and the classes of its description.
    pub fn dataset(&self, train: Examples, test: Examples) -> Dataset {
        let classes = self.info.class_names.iter().copied();
        Dataset::new(self.info.name, train, test, classes)
    }
}

/// A number with commas between its thousands.
fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
