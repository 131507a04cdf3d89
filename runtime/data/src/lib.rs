//! Datasets, partitioners and seeded schedules.
//!
//! * [`load`] gives a [`Dataset`] by name: the built-in `synth-digits`, which
//!   is drawn on the spot, or one of [`DATASETS`] from files.
//! * [`Partition`] deals the training examples to clients.
//! * [`schedule`] says who trains in a round and in which order a client sees
//!   its examples.
//!
//! Whatever is random is drawn from the streams of `fedround_random`.
//!
//! ```
//! use fedround_data::{Partition, schedule, synth::SynthDigits};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let data = SynthDigits { train: 200, test: 20, ..SynthDigits::default() }.generate();
//! let partition: Partition = "shards:2".parse()?;
//! let clients = partition.split(data.train.labels(), data.classes, 10, 7)?;
//! let round = 1;
//! for k in schedule::cohort(7, round, 0, clients.len(), 3) {
//!     let order = schedule::client_order(7, round, k, &clients[k], 0);
//!     let (mut x, mut y) = (Vec::new(), Vec::new());
//!     data.train.gather(&order[..10], &mut x, &mut y)?;
//!     assert_eq!(x.len(), 10 * data.train.features());
//! }
//! # Ok(())
//! # }
//! ```

pub mod adult;
pub mod augment;
mod cifar;
mod dataset;
mod digits;
mod emnist;
mod error;
mod files;
mod folders;
mod hold_out;
mod idx;
mod images;
mod load;
mod mnist_m;
mod notes;
pub mod partition;
mod record;
pub mod schedule;
mod svhn;
pub mod synth;
pub mod text;
mod usps;

pub use augment::{Augment, AugmentError};
pub use dataset::{Column, ColumnError, Dataset, Element, Examples, Language, Scale};
pub use error::DataError;
pub use images::{Fit, ImageFiles};
pub use load::{DATASETS, DatasetInfo, load};
pub use partition::{Partition, PartitionError};
pub use record::RecordError;
