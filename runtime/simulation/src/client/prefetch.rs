//! Makes the batches of a loop, when they are taken or ahead of that on a thread of their own.

use std::sync::mpsc::sync_channel;
use std::thread;

use fedround_data::augment::Scratch;
use fedround_random::LocalEpoch;

use burn::tensor::DispatchTensor;

use super::batches::{Batches, Chosen, Gathered, add_rows, on_device};
use crate::context::RoundContext;
use crate::error::RunError;

/// The batches of clients that go through their examples side by side. Clients with batches of one
/// size take a step together; there are as many as sizes.
pub(crate) struct Steps<'a> {
    cx: RoundContext<'a>,
    ids: &'a [usize],
    batches: Vec<Batches<'a>>,
    /// Who sits out the whole loop, where some do.
    outer: Option<Vec<bool>>,
    first_epoch: LocalEpoch,
    epochs: usize,
    step: usize,
    steps: usize,
    /// Of this step's batches, those to come; ascending.
    sizes: Vec<usize>,
    scratch: Scratch,
    /// Where examples are on the device: the rows of all batches, and how many were taken.
    rows: Option<(DispatchTensor, usize)>,
}

impl<'a> Steps<'a> {
    /// The batches of at most `size` examples of so many epochs.
    pub fn new(
        cx: RoundContext<'a>,
        ids: &'a [usize],
        outer: Option<Vec<bool>>,
        (first_epoch, epochs): (LocalEpoch, usize),
        size: usize,
    ) -> Result<Self, RunError> {
        let own = ids
            .iter()
            .map(|&id| match &cx.dataset.client_indices[id][..] {
                [] => Err(RunError::NoExamples { client: id }),
                mine => Ok(Batches::new(mine, size)),
            });
        let batches: Vec<Batches<'a>> = own.collect::<Result<_, _>>()?;
        let most = batches.iter().map(|own| epochs * own.per_epoch()).max();
        let mut this = Self {
            cx,
            ids,
            batches,
            outer,
            first_epoch,
            epochs,
            step: 0,
            steps: most.unwrap_or_default(),
            sizes: vec![],
            scratch: Scratch::default(),
            rows: None,
        };
        if cx.resident.is_some() {
            this.rows = Some((this.all_rows(), 0));
        }
        Ok(this)
    }

    /// The rows of all batches, which are copied to the device at once.
    fn all_rows(&mut self) -> DispatchTensor {
        let cx = self.cx;
        let mut rows = vec![];
        while self.advance() {
            for n in std::mem::take(&mut self.sizes).into_iter().rev() {
                add_rows(cx, &self.chosen(), n, &mut rows);
            }
        }
        self.step = 0;
        on_device(cx, rows)
    }

    /// Begins the next step; whether there is one.
    fn advance(&mut self) -> bool {
        while self.sizes.is_empty() && self.step < self.steps {
            self.step += 1;
            self.sizes = self.chosen().iter().map(|(rows, _)| rows.len()).collect();
            self.sizes.retain(|&n| n > 0);
            self.sizes.sort_unstable();
            self.sizes.dedup();
        }
        !self.sizes.is_empty()
    }

    /// The clients' batches of the present step, empty of those that sit out.
    fn chosen(&mut self) -> Vec<Chosen<'_>> {
        let (cx, step) = (self.cx, self.step.saturating_sub(1));
        let clients = self.batches.iter_mut().zip(self.ids).enumerate();
        let chosen = clients.map(|(k, (own, &id))| {
            let sits_out = self.outer.as_ref().is_some_and(|live| !live[k]);
            match sits_out || step >= self.epochs * own.per_epoch() {
                true => (&[][..], cx.visit(id, LocalEpoch::default())),
                false => own.get(cx, id, self.first_epoch, step),
            }
        });
        chosen.collect()
    }
}

impl Iterator for Steps<'_> {
    type Item = Result<Gathered, RunError>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.advance() {
            return None;
        }
        let n = self.sizes.pop()?;
        if let Some((rows, first)) = self.rows.clone() {
            let gathered = Gathered::at(&self.chosen(), n, (rows.clone(), first));
            self.rows = Some((rows, first + n * self.ids.len()));
            return Some(Ok(gathered));
        }
        let (cx, mut scratch) = (self.cx, std::mem::take(&mut self.scratch));
        let gathered = Gathered::new(cx, &self.chosen(), n, &mut scratch);
        self.scratch = scratch;
        Some(gathered)
    }
}

/// Hands `items` to `take`, in order. A thread of their own makes them, so that while `take` works on
/// one, up to `ahead` others wait and one more is being made; with 0, `take` makes them itself.
///
/// # Errors
///
/// The system gives no thread.
pub(crate) fn ahead<T: Send, R>(
    mut items: impl Iterator<Item = T> + Send,
    ahead: usize,
    take: impl FnOnce(&mut dyn Iterator<Item = T>) -> Result<R, RunError>,
) -> Result<R, RunError> {
    if ahead == 0 {
        return take(&mut items);
    }
    let (sender, receiver) = sync_channel(ahead);
    thread::scope(|scope| {
        let make = move || {
            // Nobody listens any more where `take` has stopped at an error.
            let _ = items.try_for_each(|item| sender.send(item));
        };
        let maker = thread::Builder::new().name("batches".to_owned());
        maker.spawn_scoped(scope, make).map_err(RunError::Thread)?;
        take(&mut receiver.into_iter())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[test]
    fn items_are_the_same_made_ahead_or_not() {
        for n in [0, 1, 3] {
            let taken = ahead(0..50, n, |items| Ok(items.collect::<Vec<_>>()));
            assert_eq!(taken.unwrap(), (0..50).collect::<Vec<_>>());
        }
    }

    #[test]
    fn few_items_wait() {
        let made = AtomicUsize::new(0);
        let items = (0..50).inspect(|_| {
            made.fetch_add(1, SeqCst);
        });
        let most = ahead(items, 2, |items| {
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
        let stopped = ahead(0.., 1, |items| match items.nth(3) {
            Some(3) => Err::<(), _>(RunError::NoExamples { client: 3 }),
            other => panic!("{other:?}"),
        });
        assert!(matches!(stopped, Err(RunError::NoExamples { client: 3 })));
    }
}
