//! Datasets, their file formats, partitions, augmentation and text.
//!
//! * [`DataSource`] is where examples come from: a [`DataSpec`], such as `mnist` or `images:photos`, a
//!   [`Dataset`], or a type of your own.
//! * [`load`] gives a [`Dataset`] by name: the built-in `synth-digits`, which is generated, or one of
//!   [`DATASETS`] from files.
//! * [`Partition`] deals the training examples to clients.
//!
//! Whatever is random is drawn from the streams of `fedround_random`.
//!
//! ```
//! use fedround_data::{Partition, synth::SynthDigits};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let data = SynthDigits { train: 200, test: 20, ..SynthDigits::default() }.generate();
//! let partition: Partition = "shards:2".parse()?;
//! let clients = partition.split(data.train.labels(), data.classes, 10, 7)?;
//! for examples in clients {
//!     let (mut x, mut y) = (Vec::new(), Vec::new());
//!     data.train.gather(&examples[..10], &mut x, &mut y)?;
//!     assert_eq!(x.len(), 10 * data.train.features());
//! }
//! # Ok(())
//! # }
//! ```

pub mod augment;
mod dataset;
pub mod datasets;
mod error;
mod formats;
mod notes;
pub mod own;
pub mod partition;
mod source;
pub mod text;

pub use augment::{Augment, AugmentError};
pub use dataset::{
    Column, ColumnError, DataDigest, Dataset, Element, Examples, InputEncoding, InputValues, Scale,
};
pub use datasets::{DATASETS, adult, load, synth};
pub use error::DataError;
pub use formats::{Fit, ImageFiles, RecordError};
pub use own::{DataLocation, DataSource, DataSpec, OwnDataError, ReadOptions};
pub use partition::{Partition, PartitionError, Split};
pub use source::DatasetInfo;
pub use text::Language;
