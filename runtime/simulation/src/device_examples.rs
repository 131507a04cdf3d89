//! The clients' examples in a GPU's memory, from which batches are gathered by their rows.

use burn::tensor::{DispatchTensor, Shape, Slice};
use burn_backend::ops::{FloatTensorOps, IntTensorOps};
use burn_backend::{Backend, FloatDType, IntDType, Scalar};
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_data::{Column, Examples};
use fedround_exec::ExecError;
use fedround_exec::tensor::{from_floats, from_ints};
use fedround_ir::fed::Kind;

use crate::error::RunError;

/// Bytes that are copied at a time: so much more of the host's memory is needed.
const CHUNK: usize = 64 << 20;
/// Elements of a tensor that 32-bit indices reach.
const MOST: u64 = 1 << 31;

/// Examples on a device: of each column a row for each example, then a row of zeros.
pub(crate) struct DeviceExamples {
    columns: Vec<(String, Kind, DispatchTensor)>,
    /// The row of zeros, for clients that sit a step out.
    pub blank: i32,
}

/// The column of a name: `x` is the model's input.
pub(crate) fn column<'a>(examples: &'a Examples, name: &str) -> Option<&'a Column> {
    match name {
        "x" => Some(examples.x()),
        name => examples.column(name),
    }
}

impl DeviceExamples {
    /// Copies columns to a device. `None` if they take more than `all` bytes, or one of them more than
    /// `each`; if there are none; or if some are decoded from files as they are read.
    pub fn upload(
        examples: &Examples,
        columns: &[(String, Kind)],
        (all, each): (u64, u64),
        device: &DispatchDevice,
    ) -> Result<Option<Self>, RunError> {
        let rows = examples.len() as u64 + 1;
        let mut bytes = 0;
        for (name, kind) in columns {
            let features = match column(examples, name) {
                _ if is_label(name, *kind) => 1,
                Some(column) if !column.is_decoded() => column.features() as u64,
                _ => return Ok(None),
            };
            if rows * features >= MOST || 4 * rows * features > each {
                return Ok(None);
            }
            bytes += 4 * rows * features;
        }
        if examples.is_empty() || columns.is_empty() || bytes > all {
            return Ok(None);
        }
        let own = columns.iter().map(|(name, kind)| {
            let tensor = copy(examples, (name, *kind), device)?;
            Ok((name.clone(), *kind, tensor))
        });
        let columns = own.collect::<Result<_, RunError>>()?;
        // Threads of clients read what this one has made.
        Dispatch::sync(device).map_err(ExecError::from)?;
        Ok(Some(Self {
            columns,
            blank: examples.len() as i32,
        }))
    }

    /// Whether it has all of these.
    pub fn has(&self, columns: &[(String, Kind)]) -> bool {
        let found = |(name, kind): &(String, Kind)| self.find(name, *kind).is_some();
        columns.iter().all(found)
    }

    /// A column, of which rows can be taken.
    pub fn find(&self, name: &str, kind: Kind) -> Option<&DispatchTensor> {
        let mut all = self.columns.iter();
        let own = all.find(|(own, of, _)| own == name && *of == kind);
        own.map(|(_, _, tensor)| tensor)
    }
}

/// Whether a column is the examples' labels, of which there is one each.
fn is_label(name: &str, kind: Kind) -> bool {
    kind == Kind::Labels && name == "y"
}

/// A column on a device, a part at a time.
fn copy(
    examples: &Examples,
    (name, kind): (&str, Kind),
    device: &DispatchDevice,
) -> Result<DispatchTensor, RunError> {
    let values = || column(examples, name).ok_or_else(|| RunError::Column(name.to_owned()));
    let (n, label) = (examples.len(), is_label(name, kind));
    let features = if label { 1 } else { values()?.features() };
    // A dimension of size 1 is one that burn's fusion may misread.
    let shape = |rows: usize| match features {
        1 => vec![rows],
        features => vec![rows, features],
    };
    let whole = Shape::from(shape(n + 1));
    let zero = match kind {
        Kind::Labels => Dispatch::int_full(whole, Scalar::Int(0), device, IntDType::I32),
        _ => Dispatch::float_full(whole, Scalar::Float(0.0), device, FloatDType::F32),
    };
    let rows: Vec<usize> = (0..n).collect();
    let mut parts = rows.chunks((CHUNK / (4 * features)).max(1));
    parts.try_fold(zero, |all, part| {
        let mut place = vec![Slice::new(
            part[0] as isize,
            Some((part[0] + part.len()) as isize),
            1,
        )];
        if features > 1 {
            place.push(Slice::new(0, Some(features as isize), 1));
        }
        let (size, shape) = (part.len() * features, shape(part.len()));
        if kind == Kind::Labels {
            let mut ids = vec![0; size];
            match label {
                true => examples.gather_labels_into(part, &mut ids),
                false => values()?.gather_ids_into(part, &mut ids)?,
            }
            let ids = from_ints(ids, &shape, device);
            return Ok(Dispatch::int_slice_assign(all, &place, ids));
        }
        let mut numbers = vec![0.0; size];
        values()?.gather_into(part, &mut numbers)?;
        let numbers = from_floats(numbers, &shape, device);
        Ok(Dispatch::float_slice_assign(all, &place, numbers))
    })
}
