//! The sizes of a program's shape that its sums need.

/// The shape of a program's values, `[batch, channels, ..]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dims {
    /// The number of all elements.
    pub len: usize,
    /// The number of elements for each index of the first dimension.
    pub inner: usize,
    /// The size of the second dimension; 1 if there is none.
    pub channels: usize,
    /// The number of elements for each index of the first two dimensions, at least 1.
    pub pixels: usize,
}

impl Dims {
    pub fn of(shape: &[usize]) -> Self {
        let from = |dim: usize| shape.get(dim..).unwrap_or_default().iter().product();
        Self {
            len: from(0),
            inner: from(1),
            channels: shape.get(1).copied().unwrap_or(1),
            pixels: from(2).max(1),
        }
    }
}
