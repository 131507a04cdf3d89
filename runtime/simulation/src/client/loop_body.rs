//! How the clients of a group go through a loop over batches.

use super::Clients;

/// How a loop goes through its body.
#[derive(Clone, Copy)]
pub(crate) struct Loop {
    /// The examples in the batches that are replayed; none of an `opt.repeat`, which has none.
    pub size: Option<usize>,
    /// How many of its steps are replayed, at most.
    pub steps: u64,
    /// How many of them, one after another, are of all clients.
    pub together: usize,
    /// Whether all clients of the group go through it.
    pub all: bool,
}

/// The most steps of one recording: each is recorded, and takes memory of its own.
const TOGETHER: usize = 16;

/// Into how many steps each an epoch of `steps` is divided, so that few are left over.
fn together(steps: usize) -> usize {
    steps / steps.div_ceil(TOGETHER).max(1)
}

impl Clients<'_> {
    /// A loop over batches of `size`: those that are full are replayed.
    pub(crate) fn full_batches(&self, epochs: usize, size: usize) -> Loop {
        let parts = self
            .ids
            .iter()
            .map(|&id| &self.cx.dataset.client_indices[id]);
        let most = parts.clone().map(Vec::len).max().unwrap_or_default();
        let least = parts.map(Vec::len).min().unwrap_or_default();
        let size = if self.alone() { size.min(most) } else { size };
        let steps = epochs * most.checked_div(size).unwrap_or_default();
        Loop {
            size: Some(size),
            steps: steps as u64,
            together: together(least.checked_div(size).unwrap_or_default()),
            all: self.live.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::together;

    #[test]
    fn few_steps_are_left_over() {
        let of = [0, 1, 7, 16, 17, 31, 60, 64].map(together);
        assert_eq!(of, [0, 1, 7, 16, 8, 15, 15, 16]);
    }
}
