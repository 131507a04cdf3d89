//! A user's own data: folders of images, tables, arrays and LEAF's files.
//!
//! [`DataSpec`] says where the data is and [`ReadOptions`] how it is read. Both have a text form, which the
//! command and its `config.toml` use. [`DataSource`] is what an experiment reads its examples from: a
//! [`DataSpec`], a [`Dataset`] in memory, or a type of your own.

mod arrays;
mod bad_examples;
mod bundled;
mod data_location;
mod error;
mod file_advice;
mod file_error;
mod hold_out;
mod images;
mod kinds;
mod labels;
mod leaf;
mod normalize;
mod parts;
mod read_options;
mod table;

use std::path::PathBuf;
use std::sync::Arc;

pub use bad_examples::{Broken, Missing};
pub use data_location::DataLocation;
pub use error::OwnDataError;
pub use file_error::OwnFileError;
pub use leaf::LETTERS;
pub use normalize::{Normalize, NumberScale};
pub use read_options::ReadOptions;
use table::Format;
pub use table::TableEncoder;

use crate::{DataError, Dataset, load};

/// Where the examples of an experiment come from.
///
/// Implement it for data in a format of your own: read your files and give a [`Dataset`].
///
/// ```
/// use std::sync::Arc;
/// use fedround_data::{Column, DataError, DataSource, Dataset, Examples};
///
/// /// Points inside and outside of a circle.
/// struct Circle;
///
/// impl DataSource for Circle {
///     fn name(&self) -> String {
///         "circle".to_owned()
///     }
///
///     fn load(&self) -> Result<Arc<Dataset>, DataError> {
///         let examples = |n: usize| -> Result<Examples, DataError> {
///             let point = |i: usize| [(i as f32 * 0.7).sin() * 2.0, (i as f32 * 1.3).cos() * 2.0];
///             let points: Vec<[f32; 2]> = (0..n).map(point).collect();
///             let inside = |p: &[f32; 2]| u16::from(p[0] * p[0] + p[1] * p[1] < 1.0);
///             let labels: Vec<u16> = points.iter().map(inside).collect();
///             let x = Column::floats("x", [2], points.concat())?;
///             Ok(Examples::of_columns(vec![x], labels)?)
///         };
///         let classes = ["outside", "inside"];
///         Ok(Arc::new(Dataset::new(self.name(), examples(200)?, examples(50)?, classes)))
///     }
/// }
///
/// assert_eq!(Circle.load().unwrap().train.len(), 200);
/// ```
pub trait DataSource: Send + Sync {
    /// What reports and errors call the data.
    fn name(&self) -> String;

    /// Reads the examples. It must give the same examples each time.
    ///
    /// # Errors
    /// Whatever is wrong with the files. [`DataError::from_source`] takes errors of your own, such as a database's.
    fn load(&self) -> Result<Arc<Dataset>, DataError>;
}

/// Data by its text, such as `mnist` or `images:photos`, and how it is read.
///
/// ```no_run
/// use fedround_data::{DataSource, DataSpec, ReadOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let people = "csv:people.csv".parse::<DataSpec>()?.reading(ReadOptions {
///     target: Some("income".to_owned()),
///     ..ReadOptions::default()
/// });
/// println!("{} people to train on", people.load()?.train.len());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DataSpec {
    /// Where the data is.
    pub place: DataLocation,
    /// The folder that holds the folders of bundled datasets, which generated ones do without.
    pub folder: Option<PathBuf>,
    /// How the data is read.
    pub reading: ReadOptions,
    /// The folder that keeps decoded images which memory does not hold, in a file for each folder and size of
    /// images. Without one, such images are decoded each time. It may be removed at any time.
    pub cache: Option<PathBuf>,
    /// Determines generated examples and random splits into training and test examples.
    pub seed: u64,
}

impl DataSpec {
    /// The data at a place, read with the default options.
    pub fn new(place: DataLocation) -> Self {
        Self {
            place,
            folder: None,
            reading: ReadOptions::default(),
            cache: None,
            seed: 0,
        }
    }

    /// Looks for the files of bundled datasets in this folder.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Keeps decoded images in this folder.
    #[must_use]
    pub fn cache(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache = Some(folder.into());
        self
    }

    /// Reads the data with these options.
    #[must_use]
    pub fn reading(mut self, reading: ReadOptions) -> Self {
        self.reading = reading;
        self
    }

    /// Reads the data.
    ///
    /// # Errors
    /// [`OwnDataError::Option`] for an option that this kind of data does not have, and whatever is wrong
    /// with the files.
    pub fn read(&self) -> Result<Dataset, DataError> {
        let reading = &self.reading;
        reading.check(&self.place)?;
        let seed = self.seed;
        match &self.place {
            DataLocation::Bundled(name) => {
                let data = load(name, self.folder.as_deref(), seed);
                let data = data.map_err(|error| bundled::unknown(name, error))?;
                bundled::scaled(data, &reading.normalize)
            }
            DataLocation::Images(dir) => images::read(dir, reading, self.cache.as_deref(), seed),
            DataLocation::Csv(files) => table::read(files, Format::Csv, reading, seed),
            DataLocation::Parquet(files) => table::read(files, Format::Parquet, reading, seed),
            DataLocation::Arrays(files) => arrays::read(files, reading, seed),
            DataLocation::Leaf(dir) => leaf::read(dir, reading, seed),
        }
        .and_then(|data| {
            reading.as_trained(Dataset {
                name: self.place.name(),
                ..data
            })
        })
    }
}

impl std::str::FromStr for DataSpec {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        Ok(Self::new(text.parse()?))
    }
}

impl DataSource for DataSpec {
    fn name(&self) -> String {
        self.place.name()
    }

    fn load(&self) -> Result<Arc<Dataset>, DataError> {
        Ok(Arc::new(self.read()?))
    }
}

/// The text of a [`DataSpec`], such as `synth-digits` or `images:photos`, read with the default options.
impl DataSource for String {
    fn name(&self) -> String {
        self.clone()
    }

    fn load(&self) -> Result<Arc<Dataset>, DataError> {
        DataSource::load(&self.parse::<DataSpec>()?)
    }
}

/// The same as for a [`String`].
impl DataSource for &'static str {
    fn name(&self) -> String {
        (*self).to_owned()
    }

    fn load(&self) -> Result<Arc<Dataset>, DataError> {
        DataSource::load(&self.parse::<DataSpec>()?)
    }
}

/// Examples in memory.
impl DataSource for Dataset {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn load(&self) -> Result<Arc<Dataset>, DataError> {
        Ok(Arc::new(self.clone()))
    }
}

/// Examples in memory.
impl DataSource for Arc<Dataset> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn load(&self) -> Result<Arc<Dataset>, DataError> {
        Ok(self.clone())
    }
}
