//! Makes the batches of a loop over batches: when a step needs them, or ahead of time on another thread.

use std::sync::mpsc::sync_channel;
use std::thread;

use fedround_data::augment::Scratch;
use fedround_random::LocalEpoch;

use burn::tensor::DispatchTensor;

use super::batches::{BatchRows, Batches, GroupBatch, add_rows, row_tensor};
use crate::context::RoundContext;
use crate::error::RunError;

/// Iterates over the steps of a loop over batches, for a group of clients that go through their examples in lockstep.
///
/// Clients whose batches have the same number of examples take a step together. Where the numbers differ, such as for
/// short last batches, there is one step for each number, and the other clients sit it out.
pub(crate) struct BatchSteps<'a> {
    cx: RoundContext<'a>,
    ids: &'a [usize],
    batches: Vec<Batches<'a>>,
    /// Which clients take part in the loop; `None` if all do.
    active_outside: Option<Vec<bool>>,
    first_epoch: LocalEpoch,
    /// The number of local epochs.
    epochs: usize,
    /// How many of the clients' batches were begun.
    step: usize,
    /// The number of batches of the client with the most.
    steps: usize,
    /// The batch sizes of the present step that are still to come, in ascending order.
    sizes: Vec<usize>,
    scratch: Scratch,
    /// If the examples are on the device: the row indices of all batches, and how many of them were used. `None`
    /// otherwise.
    rows: Option<(DispatchTensor, usize)>,
}

impl<'a> BatchSteps<'a> {
    /// The steps of `epochs` local epochs from `first_epoch` on, with batches of at most `size` examples.
    pub fn new(
        cx: RoundContext<'a>,
        ids: &'a [usize],
        active_outside: Option<Vec<bool>>,
        (first_epoch, epochs): (LocalEpoch, usize),
        size: usize,
    ) -> Result<Self, RunError> {
        let own = ids.iter();
        let own = own.map(|&id| Ok(Batches::new(cx.examples_of(id)?, size)));
        let batches: Vec<Batches<'a>> = own.collect::<Result<_, RunError>>()?;
        let most = batches.iter().map(|own| epochs * own.per_epoch()).max();
        let mut this = Self {
            cx,
            ids,
            batches,
            active_outside,
            first_epoch,
            epochs,
            step: 0,
            steps: most.unwrap_or_default(),
            sizes: vec![],
            scratch: Scratch::default(),
            rows: None,
        };
        if cx.device_examples.is_some() {
            this.rows = Some((this.all_rows(), 0));
        }
        Ok(this)
    }

    /// The row indices of all batches, copied to the device together.
    fn all_rows(&mut self) -> DispatchTensor {
        let cx = self.cx;
        let mut rows = vec![];
        while self.advance() {
            for n in std::mem::take(&mut self.sizes).into_iter().rev() {
                add_rows(cx, &self.current_batches(), n, &mut rows);
            }
        }
        self.step = 0;
        row_tensor(cx, rows)
    }

    /// Moves to the next step. Returns whether there is one.
    fn advance(&mut self) -> bool {
        while self.sizes.is_empty() && self.step < self.steps {
            self.step += 1;
            self.sizes = self
                .current_batches()
                .iter()
                .map(|(rows, _)| rows.len())
                .collect();
            self.sizes.retain(|&n| n > 0);
            self.sizes.sort_unstable();
            self.sizes.dedup();
        }
        !self.sizes.is_empty()
    }

    /// The clients' batches of the present step; those of clients that sit out are empty.
    fn current_batches(&mut self) -> Vec<BatchRows<'_>> {
        let (cx, step) = (self.cx, self.step.saturating_sub(1));
        let clients = self.batches.iter_mut().zip(self.ids).enumerate();
        let batches = clients.map(|(k, (own, &id))| {
            let sits_out = self
                .active_outside
                .as_ref()
                .is_some_and(|active| !active[k]);
            match sits_out || step >= self.epochs * own.per_epoch() {
                true => (&[][..], cx.visit(id, LocalEpoch::default())),
                false => own.get(cx, id, self.first_epoch, step),
            }
        });
        batches.collect()
    }
}

impl Iterator for BatchSteps<'_> {
    type Item = Result<GroupBatch, RunError>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.advance() {
            return None;
        }
        let n = self.sizes.pop()?;
        if let Some((rows, first)) = self.rows.clone() {
            let batch =
                GroupBatch::of_device_rows(&self.current_batches(), n, (rows.clone(), first));
            self.rows = Some((rows, first + n * self.ids.len()));
            return Some(Ok(batch));
        }
        let (cx, mut scratch) = (self.cx, std::mem::take(&mut self.scratch));
        let batch = GroupBatch::new(cx, &self.current_batches(), n, &mut scratch);
        self.scratch = scratch;
        Some(batch)
    }
}

/// Gives `items` to `consume`, in order. Another thread makes them: while `consume` works on one, up to `ahead` others
/// wait and one more is being made. With `ahead = 0` there is no other thread.
///
/// # Errors
///
/// The system cannot start a thread; or the error of `consume`.
pub(crate) fn with_prefetch<T: Send, R>(
    mut items: impl Iterator<Item = T> + Send,
    ahead: usize,
    consume: impl FnOnce(&mut dyn Iterator<Item = T>) -> Result<R, RunError>,
) -> Result<R, RunError> {
    if ahead == 0 {
        return consume(&mut items);
    }
    let (sender, receiver) = sync_channel(ahead);
    thread::scope(|scope| {
        let make = move || {
            // Sending fails once `consume` has returned with an error.
            let _ = items.try_for_each(|item| sender.send(item));
        };
        let maker = thread::Builder::new().name("batches".to_owned());
        maker.spawn_scoped(scope, make).map_err(RunError::Thread)?;
        consume(&mut receiver.into_iter())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[test]
    fn items_are_the_same_made_ahead_or_not() {
        for n in [0, 1, 3] {
            let taken = with_prefetch(0..50, n, |items| Ok(items.collect::<Vec<_>>()));
            assert_eq!(taken.unwrap(), (0..50).collect::<Vec<_>>());
        }
    }

    #[test]
    fn few_items_wait() {
        let made = AtomicUsize::new(0);
        let items = (0..50).inspect(|_| {
            made.fetch_add(1, SeqCst);
        });
        let most = with_prefetch(items, 2, |items| {
            let lead = items.map(|i| {
                thread::yield_now();
                made.load(SeqCst) - i
            });
            Ok(lead.max())
        });
        // The one that is taken, two that wait, and one that is being made.
        assert!(most.unwrap() <= Some(4));
    }

    #[test]
    fn an_error_ends_both_sides() {
        let stopped = with_prefetch(0.., 1, |items| match items.nth(3) {
            Some(3) => Err::<(), _>(RunError::NoExamples { client: 3 }),
            other => panic!("{other:?}"),
        });
        assert!(matches!(stopped, Err(RunError::NoExamples { client: 3 })));
    }
}
