//! How the clients of a group go through a loop over batches.

use super::Clients;

/// How a loop goes through its body.
#[derive(Clone, Copy)]
pub(crate) struct Loop {
    /// The examples in the batches that are replayed; none of an `opt.repeat`, which has none.
    pub size: Option<usize>,
    /// How many of its steps are replayed, at most.
    pub steps: u64,
    /// Whether all clients of the group go through it.
    pub all: bool,
}

impl Clients<'_> {
    /// A loop over batches of `size`: those that are full are replayed.
    pub(crate) fn full_batches(&self, epochs: usize, size: usize) -> Loop {
        let parts = self
            .ids
            .iter()
            .map(|&id| &self.cx.dataset.client_indices[id]);
        let most = parts.map(Vec::len).max().unwrap_or_default();
        let size = if self.alone() { size.min(most) } else { size };
        let steps = epochs * most.checked_div(size).unwrap_or_default();
        Loop {
            size: Some(size),
            steps: steps as u64,
            all: self.live.is_none(),
        }
    }
}
