//! The order in which a client visits its examples, and the tensors of a batch.

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

use crate::device_examples::column;
use crate::error::RunError;
use crate::value::RtVal;

/// One client's batches of a `for_batches`: every epoch visits its examples in its own order; the
/// last batch of an epoch may be short.
pub(crate) struct Batches<'a> {
    mine: &'a [usize],
    size: usize,
    /// The epoch whose order is at hand.
    epoch: LocalEpoch,
    order: Vec<usize>,
}

impl<'a> Batches<'a> {
    /// Batches of at most `size` of a client's examples.
    pub fn new(mine: &'a [usize], size: usize) -> Self {
        Self {
            mine,
            size,
            epoch: LocalEpoch::default(),
            order: vec![],
        }
    }

    /// Batches of one epoch.
    pub fn per_epoch(&self) -> usize {
        self.mine.len().div_ceil(self.size)
    }

    /// The client's `step`-th batch.
    pub fn get(
        &mut self,
        cx: RoundContext<'_>,
        id: usize,
        first: LocalEpoch,
        step: usize,
    ) -> Chosen<'_> {
        let epoch = first.later(step / self.per_epoch());
        if self.order.is_empty() || epoch != self.epoch {
            let seed = cx.seed;
            self.order = client_order(seed, cx.round, id, self.mine, epoch);
            self.epoch = epoch;
        }
        let start = step % self.per_epoch() * self.size;
        let rows = &self.order[start..(start + self.size).min(self.order.len())];
        (rows, cx.visit(id, epoch))
    }
}

/// A client's batch: its rows of the examples, and when the client sees them.
pub(crate) type Chosen<'a> = (&'a [usize], Visit);

/// Examples of the clients' batches, before they are tensors.
pub(crate) struct Gathered {
    /// Examples of a client's batch.
    pub n: usize,
    /// Whose batches have as many; the others sit out.
    pub live: Vec<bool>,
    columns: Columns,
}

/// The examples of clients' batches.
enum Columns {
    /// Gathered, in host memory.
    Host(Vec<Elements>),
    /// To be gathered on the device: rows of the examples there, from the first on of a tensor of rows.
    Device(Box<DispatchTensor>, usize),
}

/// Elements of a column, and their shape.
enum Elements {
    Numbers(Vec<f32>, Vec<usize>),
    Ids(Vec<i32>, Vec<usize>),
}

impl Gathered {
    /// What the program reads of the batches of `n` examples among these: `[n, …]` of a client alone
    /// and `[clients, n, …]` of several, zeros for a client that sits out.
    pub fn new(
        cx: RoundContext<'_>,
        chosen: &[Chosen<'_>],
        n: usize,
        scratch: &mut Scratch,
    ) -> Result<Self, RunError> {
        if cx.resident.is_some() {
            let mut rows = vec![];
            add_rows(cx, chosen, n, &mut rows);
            let rows = on_device(cx, rows);
            return Ok(Self::at(chosen, n, (rows, 0)));
        }
        let columns = cx.program.schedule().columns.iter();
        let columns = columns.map(|column| gather(cx, column, chosen, n, scratch));
        Ok(Self {
            n,
            live: live(chosen, n),
            columns: Columns::Host(columns.collect::<Result<_, _>>()?),
        })
    }

    /// The same, of rows that are on the device, from one of them on.
    pub fn at(chosen: &[Chosen<'_>], n: usize, (rows, first): (DispatchTensor, usize)) -> Self {
        Self {
            n,
            live: live(chosen, n),
            columns: Columns::Device(Box::new(rows), first),
        }
    }

    /// The rows of the batches, and of as many after them as `steps` of the same size have, if the examples
    /// are on the device.
    pub fn rows(&self, steps: usize) -> Option<DispatchTensor> {
        let Columns::Device(rows, first) = &self.columns else {
            return None;
        };
        let all = steps * self.n * self.live.len();
        Some(take_ints(rows.as_ref().clone(), *first, first + all))
    }

    /// The batches on a device.
    pub fn batch(self, cx: RoundContext<'_>) -> Result<RtVal, RunError> {
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
                let (n, clients) = (self.n, self.live.len());
                let rows = take_ints(*rows, first, first + n * clients);
                let columns = example_columns(cx, n, clients)?.into_iter();
                let columns = columns.map(|own| take_rows(own.all, rows.clone(), &own.shape));
                columns.collect()
            }
        };
        let batch = RtVal::Batch(self.n, columns);
        Ok(match self.live.len() {
            1 => batch,
            _ => RtVal::each(batch),
        })
    }
}

/// The columns of the examples on the device, and the shapes of batches of `n` for so many clients; none
/// where they are on the host.
pub(crate) fn example_columns(
    cx: RoundContext<'_>,
    n: usize,
    clients: usize,
) -> Result<Vec<ExampleColumn>, RunError> {
    let Some(resident) = cx.resident else {
        return Ok(vec![]);
    };
    let columns = cx.program.schedule().columns.iter();
    let columns = columns.map(|(name, kind)| {
        let (_, shape) = sizes(cx, (name, *kind), n, clients)?;
        let all = resident.find(name, *kind).cloned();
        let all = all.ok_or_else(|| RunError::Column(name.clone()))?;
        Ok(ExampleColumn { all, shape })
    });
    columns.collect()
}

/// Whose batches have `n` examples.
fn live(chosen: &[Chosen<'_>], n: usize) -> Vec<bool> {
    chosen.iter().map(|(rows, _)| rows.len() == n).collect()
}

/// Adds the rows of the batches of `n` examples, and those of zeros for clients that sit out.
pub(crate) fn add_rows(cx: RoundContext<'_>, chosen: &[Chosen<'_>], n: usize, rows: &mut Vec<i32>) {
    let blank = cx.resident.map_or(0, |all| all.blank);
    for (own, _) in chosen {
        match own.len() == n {
            true => rows.extend(own.iter().map(|&row| row as i32)),
            false => rows.resize(rows.len() + n, blank),
        }
    }
}

/// Rows as a tensor.
pub(crate) fn on_device(cx: RoundContext<'_>, rows: Vec<i32>) -> DispatchTensor {
    let shape = [rows.len()];
    from_ints(rows, &shape, cx.program.device())
}

/// Whether gathering does more than copy: files are decoded, or images changed.
pub(crate) fn takes_work(cx: RoundContext<'_>) -> bool {
    if cx.resident.is_some() {
        return false;
    }
    let examples = &cx.dataset.examples;
    cx.program.schedule().columns.iter().any(|(name, _)| {
        let column = column(examples, name);
        let changed = name == "x" && !cx.augment.is_empty();
        changed || column.is_some_and(Column::is_decoded)
    })
}

/// The type of one client's batch of a column, and the shape of those of all.
fn sizes(
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

/// A column of the clients' batches.
fn gather(
    cx: RoundContext<'_>,
    (name, kind): &(String, Kind),
    chosen: &[Chosen<'_>],
    n: usize,
    scratch: &mut Scratch,
) -> Result<Elements, RunError> {
    let examples = &cx.dataset.examples;
    let (ty, shape) = sizes(cx, (name, *kind), n, chosen.len())?;
    let column = || column(examples, name).ok_or_else(|| RunError::Column(name.to_owned()));
    if *kind == Kind::Labels {
        let ids = of_each(chosen, n, ty.len(), |(rows, _), ids| match name.as_str() {
            "y" => {
                examples.gather_labels_into(rows, ids);
                Ok(())
            }
            _ => Ok(column()?.gather_ids_into(rows, ids)?),
        })?;
        return Ok(Elements::Ids(ids, shape));
    }
    let augmented = name == "x" && !cx.augment.is_empty();
    let numbers = of_each(chosen, n, ty.len(), |(rows, visit), numbers| {
        if augmented {
            let augment = cx.augment;
            return Ok(augment.gather_into(column()?, rows, visit, scratch, numbers)?);
        }
        Ok(column()?.gather_into(rows, numbers)?)
    })?;
    Ok(Elements::Numbers(numbers, shape))
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
