//! The mini-batches of clients: the order in which a client visits its examples, and the tensors of a batch.

use crate::sampling::client_order;
use burn::tensor::DispatchTensor;
use fedround_data::Column;
use fedround_data::augment::{Scratch, Visit};
use fedround_exec::capture::ExampleColumn;
use fedround_exec::tensor::{from_floats, from_ints};
use fedround_exec::tensor::{take_ints, take_rows};
use fedround_ir::Loc;
use fedround_ir::fed::Kind;
use fedround_ir::tensor::TensorType;
use fedround_passes::lowering::{Frontend, LowerError};
use fedround_random::LocalEpoch;

use crate::context::RoundContext;
use fedround_exec::CompileError;

use crate::columns::{column, gather_ids, gather_numbers};
use crate::error::RunError;
use crate::value::RuntimeValue;

/// One client's batches in a loop `for_batches`. Each local epoch visits the examples in an order of its own; the last
/// batch of an epoch may be short.
pub(crate) struct Batches<'a> {
    /// The indices of the client's examples.
    examples: &'a [usize],
    /// The number of examples in a full batch.
    size: usize,
    /// The epoch to which `order` belongs.
    epoch: LocalEpoch,
    /// `examples` in the order of the epoch. Empty before the first batch.
    order: Vec<usize>,
}

impl<'a> Batches<'a> {
    /// Batches of at most `size` of a client's examples.
    pub fn new(examples: &'a [usize], size: usize) -> Self {
        Self {
            examples,
            size,
            epoch: LocalEpoch::default(),
            order: vec![],
        }
    }

    /// The number of batches in one epoch.
    pub fn per_epoch(&self) -> usize {
        self.examples.len().div_ceil(self.size)
    }

    /// The client's `step`-th batch.
    pub fn get(
        &mut self,
        cx: RoundContext<'_>,
        id: usize,
        first: LocalEpoch,
        step: usize,
    ) -> BatchRows<'_> {
        let epoch = first.later(step / self.per_epoch());
        if self.order.is_empty() || epoch != self.epoch {
            let seed = cx.seed;
            self.order = client_order(seed, cx.round, id, self.examples, epoch);
            self.epoch = epoch;
        }
        let start = step % self.per_epoch() * self.size;
        let rows = &self.order[start..(start + self.size).min(self.order.len())];
        (rows, cx.visit(id, epoch))
    }
}

/// A client's batch: the indices of its examples, and the round, client and epoch that see them, by which random
/// augmentation is drawn. Without indices, the client sits out the step.
pub(crate) type BatchRows<'a> = (&'a [usize], Visit);

/// The batches of a group of clients for one step, before they are tensors on the device.
pub(crate) struct GroupBatch {
    /// The number of examples in a client's batch.
    pub n: usize,
    /// Which clients have a batch of `n` examples; the others sit out the step.
    pub active: Vec<bool>,
    columns: Columns,
}

/// The columns of a group's batches.
enum Columns {
    /// Gathered in host memory.
    Host(Vec<Elements>),
    /// To be gathered on the device, which holds all examples: a tensor of row indices, and the position in it of the
    /// batches' first row.
    Device(Box<DispatchTensor>, usize),
}

/// The elements of a column, and its shape.
enum Elements {
    Numbers(Vec<f32>, Vec<usize>),
    Ids(Vec<i32>, Vec<usize>),
}

impl GroupBatch {
    /// Gathers the columns that the program reads of the batches of `n` examples: `[n, …]` for a single client, and
    /// `[clients, n, …]` for a group, with zeros for clients that sit out.
    pub fn new(
        cx: RoundContext<'_>,
        batches: &[BatchRows<'_>],
        n: usize,
        scratch: &mut Scratch,
    ) -> Result<Self, RunError> {
        if cx.device_examples.is_some() {
            let mut rows = vec![];
            add_rows(cx, batches, n, &mut rows);
            let rows = row_tensor(cx, rows);
            return Ok(Self::of_device_rows(batches, n, (rows, 0)));
        }
        let columns = cx.program.schedule().columns.iter();
        let columns = columns.map(|column| gather(cx, column, batches, n, scratch));
        Ok(Self {
            n,
            active: active_clients(batches, n),
            columns: Columns::Host(columns.collect::<Result<_, _>>()?),
        })
    }

    /// The same by row indices that are on the device already, from position `first` on.
    pub fn of_device_rows(
        batches: &[BatchRows<'_>],
        n: usize,
        (rows, first): (DispatchTensor, usize),
    ) -> Self {
        Self {
            n,
            active: active_clients(batches, n),
            columns: Columns::Device(Box::new(rows), first),
        }
    }

    /// The row indices of this step and of those after it, `steps` in all, which have batches of the same size. `None`
    /// if the examples are in host memory.
    pub fn rows(&self, steps: usize) -> Option<DispatchTensor> {
        let Columns::Device(rows, first) = &self.columns else {
            return None;
        };
        let count = steps * self.n * self.active.len();
        Some(take_ints(rows.as_ref().clone(), *first, first + count))
    }

    /// The batches as tensors on the device.
    pub fn batch(self, cx: RoundContext<'_>) -> Result<RuntimeValue, RunError> {
        let device = cx.program.device();
        let columns = match self.columns {
            Columns::Host(columns) => {
                let columns = columns.into_iter().map(|column| match column {
                    Elements::Numbers(numbers, shape) => from_floats(numbers, &shape, device),
                    Elements::Ids(ids, shape) => from_ints(ids, &shape, device),
                });
                columns.collect()
            }
            Columns::Device(rows, first) => {
                let (n, clients) = (self.n, self.active.len());
                let rows = take_ints(*rows, first, first + n * clients);
                let columns = example_columns(cx, n, clients)?.into_iter();
                let columns = columns.map(|own| take_rows(own.all, rows.clone(), &own.shape));
                columns.collect()
            }
        };
        let batch = RuntimeValue::Batch(self.n, columns);
        Ok(RuntimeValue::stacked_if(self.active.len() > 1, batch))
    }
}

/// The columns of the examples on the device, and the shapes of batches of `n` examples for `clients` clients. Empty
/// if the examples are in host memory.
pub(crate) fn example_columns(
    cx: RoundContext<'_>,
    n: usize,
    clients: usize,
) -> Result<Vec<ExampleColumn>, RunError> {
    let Some(examples) = cx.device_examples else {
        return Ok(vec![]);
    };
    let columns = cx.program.schedule().columns.iter();
    let columns = columns.map(|(name, kind)| {
        let (_, shape) = batch_types(cx, (name, *kind), n, clients)?;
        let all = examples.find(name, *kind).cloned();
        let all = all.ok_or_else(|| RunError::Column(name.clone()))?;
        Ok(ExampleColumn { all, shape })
    });
    columns.collect()
}

/// Which clients have batches of `n` examples.
fn active_clients(batches: &[BatchRows<'_>], n: usize) -> Vec<bool> {
    batches.iter().map(|(rows, _)| rows.len() == n).collect()
}

/// Appends the row indices of the batches of `n` examples. A client that sits out gets the row of zeros.
pub(crate) fn add_rows(
    cx: RoundContext<'_>,
    batches: &[BatchRows<'_>],
    n: usize,
    rows: &mut Vec<i32>,
) {
    let blank = cx.device_examples.map_or(0, |all| all.blank);
    for (own, _) in batches {
        match own.len() == n {
            true => rows.extend(own.iter().map(|&row| row as i32)),
            false => rows.resize(rows.len() + n, blank),
        }
    }
}

/// Row indices as a tensor on the device.
pub(crate) fn row_tensor(cx: RoundContext<'_>, rows: Vec<i32>) -> DispatchTensor {
    let shape = [rows.len()];
    from_ints(rows, &shape, cx.program.device())
}

/// Whether gathering a batch does more than copy: files are decoded, or images augmented. Only then is prefetching
/// worth a thread.
pub(crate) fn needs_preparation(cx: RoundContext<'_>) -> bool {
    if cx.device_examples.is_some() {
        return false;
    }
    let examples = &cx.dataset.examples;
    cx.program.schedule().columns.iter().any(|(name, _)| {
        let changed = name == "x" && !cx.augment.is_empty();
        changed || column(examples, name).is_ok_and(Column::is_decoded)
    })
}

/// The type of a column in one client's batch, and its shape in the batches of all clients.
fn batch_types(
    cx: RoundContext<'_>,
    (name, kind): (&str, Kind),
    n: usize,
    clients: usize,
) -> Result<(TensorType, Vec<usize>), RunError> {
    let ty = cx.program.model().column(name, kind, n).map_err(|source| {
        let loc = Loc::caller();
        CompileError::from(LowerError::Frontend { loc, source })
    })?;
    let mut shape = ty.shape.clone();
    if clients > 1 {
        shape.insert(0, clients);
    }
    Ok((ty, shape))
}

/// Gathers a column of the clients' batches in host memory.
fn gather(
    cx: RoundContext<'_>,
    (name, kind): &(String, Kind),
    batches: &[BatchRows<'_>],
    n: usize,
    scratch: &mut Scratch,
) -> Result<Elements, RunError> {
    let examples = &cx.dataset.examples;
    let (ty, shape) = batch_types(cx, (name, *kind), n, batches.len())?;
    if *kind == Kind::Labels {
        let ids = gather_clients(batches, n, ty.len(), |(rows, _), ids| {
            gather_ids(examples, name, rows, ids)
        })?;
        return Ok(Elements::Ids(ids, shape));
    }
    let numbers = gather_clients(batches, n, ty.len(), |(rows, visit), numbers| {
        let augment = (cx.augment, visit, &mut *scratch);
        gather_numbers(examples, name, rows, augment, numbers)
    })?;
    Ok(Elements::Numbers(numbers, shape))
}

/// Gathers `size` elements for each client, one client after another: zeros for clients that sit out.
fn gather_clients<T: Copy + Default>(
    batches: &[BatchRows<'_>],
    n: usize,
    size: usize,
    mut gather: impl FnMut(BatchRows<'_>, &mut [T]) -> Result<(), RunError>,
) -> Result<Vec<T>, RunError> {
    let mut elements = vec![T::default(); batches.len() * size];
    for (&(rows, visit), own) in batches.iter().zip(elements.chunks_mut(size.max(1))) {
        if rows.len() == n {
            gather((rows, visit), own)?;
        }
    }
    Ok(elements)
}
