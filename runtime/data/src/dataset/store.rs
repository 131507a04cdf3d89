//! What a column's elements are, and where.

use std::fmt;
use std::sync::Arc;

use super::Scale;
use crate::images::ImageFiles;

/// What the elements of a [`Column`](super::Column) are when they are gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// `f32` numbers, from [`Column::gather_into`](super::Column::gather_into).
    Float,
    /// `i32` ids, from [`Column::gather_ids_into`](super::Column::gather_ids_into).
    Id,
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Float => "numbers",
            Self::Id => "ids",
        })
    }
}

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
