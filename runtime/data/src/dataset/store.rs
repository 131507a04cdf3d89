//! Storage of a column's elements: in memory, or in files that are decoded when they are read.

use std::sync::Arc;

use super::Scale;
use crate::formats::ImageFiles;

/// The elements of all examples, one example after another.
#[derive(Clone)]
pub(super) enum Store {
    Bytes(Arc<Vec<u8>>, Scale),
    Floats(Arc<Vec<f32>>),
    Ids(Arc<Vec<i32>>),
    Images(Arc<ImageFiles>, Scale),
}

impl Store {
    /// The number of elements of all examples.
    pub fn elements(&self) -> usize {
        match self {
            Self::Bytes(bytes, _) => bytes.len(),
            Self::Floats(numbers) => numbers.len(),
            Self::Ids(ids) => ids.len(),
            Self::Images(files, _) => files.len() * files.shape().iter().product::<usize>(),
        }
    }

    /// Shows the elements of the example at place `at`, of so many `features`, as bytes; of an image
    /// file its path, and of bytes nothing of their scale.
    pub fn show(&self, at: usize, features: usize, visit: &mut dyn FnMut(&[u8])) {
        let of = at * features..(at + 1) * features;
        match self {
            Self::Bytes(bytes, _) => visit(&bytes[of]),
            Self::Floats(numbers) => numbers[of].iter().for_each(|x| visit(&x.to_le_bytes())),
            Self::Ids(ids) => ids[of].iter().for_each(|id| visit(&id.to_le_bytes())),
            Self::Images(files, _) => {
                visit(files.paths()[at].as_os_str().as_encoded_bytes());
            }
        }
    }
}
