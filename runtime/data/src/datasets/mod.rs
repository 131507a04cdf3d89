//! The registry of datasets.
//!
//! A dataset is one file of this folder (or a folder, if it needs several files). The file defines a
//! [`DatasetInfo`]: the name, the shape, the files and the function that reads them. To add a dataset,
//! write that file and add its line to [`DATASETS`].

pub mod adult;
mod cifar;
pub mod coco;
pub mod daquar;
mod digits;
mod domains;
pub mod easy_vqa;
mod emnist;
mod fashion_mnist;
pub mod flickr8k;
mod hold_out;
mod mnist;
mod mnist_m;
mod svhn;
pub mod synth;
mod usps;
pub mod vqa_v2;

use std::path::Path;

use fedround_names::nearest;

use crate::{DataError, Dataset, DatasetInfo};

/// Every dataset that [`load`] knows.
pub const DATASETS: &[DatasetInfo] = &[
    synth::GREY,
    synth::RGB,
    mnist::MNIST,
    fashion_mnist::FASHION_MNIST,
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
    domains::office_caltech_10::OFFICE_CALTECH_10,
    domains::office_31::OFFICE_31,
    domains::pacs::PACS,
    domains::domainnet::DOMAINNET,
    domains::domainnet::DOMAINNET_10,
    adult::HALVES,
    adult::PUBLISHED,
    flickr8k::FLICKR8K,
    coco::COCO,
    easy_vqa::EASY_VQA,
    daquar::DAQUAR,
    vqa_v2::VQA_V2,
];

/// The class names of the datasets of digits.
const DIGITS: &[&str] = &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

impl DatasetInfo {
    /// The description of the dataset called `name`.
    ///
    /// # Errors
    /// [`DataError::UnknownDataset`].
    pub fn find(name: &str) -> Result<&'static Self, DataError> {
        let known = || DATASETS.iter().map(|d| d.name);
        let unknown = || DataError::UnknownDataset {
            name: name.to_owned(),
            nearest: nearest(name, known()),
            known: known().collect(),
        };
        DATASETS.iter().find(|d| d.name == name).ok_or_else(unknown)
    }
}

/// Reads the dataset called `name`; see [`DatasetInfo::load`].
///
/// # Errors
/// An unknown name, and the errors of [`DatasetInfo::load`].
pub fn load(name: &str, data_dir: Option<&Path>, seed: u64) -> Result<Dataset, DataError> {
    DatasetInfo::find(name)?.load(data_dir, seed)
}
