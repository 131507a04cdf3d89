//! The dimensions over which a program sums.

/// The shape of a program's values, as its sums see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dims {
    /// All elements.
    pub len: usize,
    /// Elements for each index of the first dimension.
    pub inner: usize,
    /// The size of the second dimension.
    pub channels: usize,
    /// Elements for each index of the first two dimensions, at least 1.
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
