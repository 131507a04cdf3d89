//! Storage of a column's elements: in memory, or in files that are decoded when they are read.

use std::sync::Arc;

use super::Scale;
use crate::formats::ImageFiles;

/// The elements of all examples, one example after another.
#[derive(Clone)]
pub(super) enum Store {
    Bytes(Arc<Vec<u8>>, Scale),
    /// Numbers, and the one that is black where they are images.
    Floats(Arc<Vec<f32>>, f32),
    Ids(Arc<Vec<i32>>),
    Images(Arc<ImageFiles>, Scale),
}

impl Store {
    /// The number of elements of all examples.
    pub fn elements(&self) -> usize {
        match self {
            Self::Bytes(bytes, _) => bytes.len(),
            Self::Floats(numbers, _) => numbers.len(),
            Self::Ids(ids) => ids.len(),
            Self::Images(files, _) => files.len() * files.shape().iter().product::<usize>(),
        }
    }

    /// How bytes become numbers.
    pub fn scale(&self) -> Option<&Scale> {
        match self {
            Self::Bytes(_, scale) | Self::Images(_, scale) => Some(scale),
            Self::Floats(..) | Self::Ids(_) => None,
        }
    }

    /// Writes the number that is black, for each channel.
    pub fn black(&self, numbers: &mut [f32]) {
        match self {
            Self::Bytes(_, scale) | Self::Images(_, scale) => scale.black(numbers),
            Self::Floats(_, black) => numbers.fill(*black),
            Self::Ids(_) => numbers.fill(0.0),
        }
    }

    /// Shows the elements of the example at place `at`, of so many `features`, as bytes; of an image
    /// file its path, and of bytes nothing of their scale.
    pub fn show(&self, at: usize, features: usize, visit: &mut dyn FnMut(&[u8])) {
        let of = at * features..(at + 1) * features;
        match self {
            Self::Bytes(bytes, _) => visit(&bytes[of]),
            Self::Floats(numbers, _) => numbers[of].iter().for_each(|x| visit(&x.to_le_bytes())),
            Self::Ids(ids) => ids[of].iter().for_each(|id| visit(&id.to_le_bytes())),
            Self::Images(files, _) => {
                visit(files.paths()[at].as_os_str().as_encoded_bytes());
            }
        }
    }
}
