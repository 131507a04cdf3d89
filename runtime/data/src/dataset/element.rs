//! The types of elements.

use std::fmt;

/// The type of a [`Column`](super::Column)'s elements when they are gathered.
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
