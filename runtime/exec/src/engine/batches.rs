//! The order in which a client visits its examples, and what a batch of them holds.

use burn::tensor::DispatchTensor;
use fedround_data::augment::{Scratch, Visit};
use fedround_data::schedule::client_order;
use fedround_ir::Loc;
use fedround_ir::fed::Kind;
use fedround_passes::tensor::{Frontend, LowerError};

use super::Cx;
use crate::error::{CompileError, RunError};
use crate::ops;

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

    /// The client's `step`-th batch.
    pub fn get(&mut self, cx: Cx<'_>, id: usize, first_epoch: usize, step: usize) -> Chosen<'_> {
        let epoch = first_epoch + step / self.per_epoch();
        if self.order.is_empty() || epoch != self.epoch {
            let seed = cx.federation.seed;
            self.order = client_order(seed, cx.round, id, self.mine, epoch);
            self.epoch = epoch;
        }
        let start = step % self.per_epoch() * self.size;
        let rows = &self.order[start..(start + self.size).min(self.order.len())];
        (rows, cx.visit(id, epoch))
    }
}

/// A client's batch: its rows of the examples, and when the client sees them.
pub(super) type Chosen<'a> = (&'a [usize], Visit);

/// A column of the clients' batches, `[n, …]` of a client alone and `[clients, n, …]` of several;
/// zeros for a client that sits out.
pub(super) fn gather(
    cx: Cx<'_>,
    (name, kind): &(String, Kind),
    chosen: &[Chosen<'_>],
    n: usize,
    scratch: &mut Scratch,
) -> Result<DispatchTensor, RunError> {
    let (program, examples) = (cx.program, &cx.federation.examples);
    let ty = program.tracer.column(name, *kind, n).map_err(|source| {
        let loc = Loc::caller();
        CompileError::from(LowerError::Frontend { loc, source })
    })?;
    let mut shape = ty.shape.clone();
    if chosen.len() > 1 {
        shape.insert(0, chosen.len());
    }
    let column = || match name.as_str() {
        "x" => Ok(examples.x()),
        name => examples
            .column(name)
            .ok_or_else(|| RunError::Column(name.to_owned())),
    };
    if *kind == Kind::Labels {
        let ids = of_each(chosen, n, ty.len(), |(rows, _), ids| match name.as_str() {
            "y" => {
                examples.gather_labels_into(rows, ids);
                Ok(())
            }
            _ => Ok(column()?.gather_ids_into(rows, ids)?),
        })?;
        return Ok(ops::ints(ids, &shape, &program.device));
    }
    let augmented = name == "x" && !cx.augment.is_empty();
    let numbers = of_each(chosen, n, ty.len(), |(rows, visit), numbers| {
        if augmented {
            let augment = cx.augment;
            return Ok(augment.gather_into(column()?, rows, visit, scratch, numbers)?);
        }
        Ok(column()?.gather_into(rows, numbers)?)
    })?;
    Ok(ops::tensor(numbers, &shape, &program.device))
}

/// The elements of each client's batch, `size` of them, one after another.
fn of_each<T: Copy + Default>(
    chosen: &[Chosen<'_>],
    n: usize,
    size: usize,
    mut gather: impl FnMut(Chosen<'_>, &mut [T]) -> Result<(), RunError>,
) -> Result<Vec<T>, RunError> {
    let mut elements = vec![T::default(); chosen.len() * size];
    for (&(rows, visit), own) in chosen.iter().zip(elements.chunks_mut(size.max(1))) {
        if rows.len() == n {
            gather((rows, visit), own)?;
        }
    }
    Ok(elements)
}
