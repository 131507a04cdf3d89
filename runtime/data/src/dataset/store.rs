//! Where a column's elements are kept.

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
}
