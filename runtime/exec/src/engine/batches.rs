//! The order in which a client visits its examples.

use fedround_data::schedule::client_order;

use super::Cx;

/// One client's batches of a `for_batches`: every epoch visits its examples in its own order; the
/// last batch of an epoch may be short.
pub(super) struct Batches<'a> {
    mine: &'a [usize],
    size: usize,
    /// The epoch whose order is at hand.
    epoch: usize,
    order: Vec<usize>,
}

impl<'a> Batches<'a> {
    /// Batches of at most `size` of a client's examples.
    pub fn new(mine: &'a [usize], size: usize) -> Self {
        Self {
            mine,
            size,
            epoch: 0,
            order: vec![],
        }
    }

    /// Batches of one epoch.
    pub fn per_epoch(&self) -> usize {
        self.mine.len().div_ceil(self.size)
    }

    /// The examples of the client's `step`-th batch.
    pub fn get(&mut self, cx: Cx<'_>, id: usize, first_epoch: usize, step: usize) -> &[usize] {
        let epoch = first_epoch + step / self.per_epoch();
        if self.order.is_empty() || epoch != self.epoch {
            let seed = cx.federation.seed;
            self.order = client_order(seed, cx.round, id, self.mine, epoch);
            self.epoch = epoch;
        }
        let start = step % self.per_epoch() * self.size;
        &self.order[start..(start + self.size).min(self.order.len())]
    }
}
