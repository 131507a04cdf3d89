//! The steps of a loop that may be replayed: how many there are, and which clients take them.

use super::ClientGroup;

/// The steps of a loop.
#[derive(Clone, Copy)]
pub(crate) struct LoopSteps {
    /// The number of examples in a full batch; `None` for `opt.repeat`, which has no batches.
    pub size: Option<usize>,
    /// The largest number of steps that can be replayed.
    pub steps: u64,
    /// How many consecutive steps of all clients one capture contains.
    pub steps_per_capture: usize,
    /// Whether all clients of the group run the loop.
    pub all_active: bool,
}

/// The most steps in one capture. Each step in it takes memory of its own.
const MAX_PER_CAPTURE: usize = 16;

/// The number of steps in one capture, for an epoch of `steps` steps: so many that few steps are left over.
fn steps_per_capture(steps: usize) -> usize {
    steps / steps.div_ceil(MAX_PER_CAPTURE).max(1)
}

impl ClientGroup<'_> {
    /// The steps of a loop over batches of `size` examples, of which the full ones can be replayed.
    pub(crate) fn full_batches(&self, epochs: usize, size: usize) -> LoopSteps {
        let parts = self
            .ids
            .iter()
            .map(|&id| &self.cx.dataset.client_indices[id]);
        let most = parts.clone().map(Vec::len).max().unwrap_or_default();
        let least = parts.map(Vec::len).min().unwrap_or_default();
        let size = if self.is_single() {
            size.min(most)
        } else {
            size
        };
        let steps = epochs * most.checked_div(size).unwrap_or_default();
        LoopSteps {
            size: Some(size),
            steps: steps as u64,
            steps_per_capture: steps_per_capture(least.checked_div(size).unwrap_or_default()),
            all_active: self.active.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::steps_per_capture;

    #[test]
    fn few_steps_are_left_over() {
        let of = [0, 1, 7, 16, 17, 31, 60, 64].map(steps_per_capture);
        assert_eq!(of, [0, 1, 7, 16, 8, 15, 15, 16]);
    }
}
