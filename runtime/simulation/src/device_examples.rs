//! The clients' examples in a GPU's memory. Batches are gathered there by row indices.

use burn::tensor::{DispatchTensor, Shape, Slice};
use burn_backend::ops::{FloatTensorOps, IntTensorOps};
use burn_backend::{Backend, FloatDType, IntDType, Scalar};
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_data::Examples;
use fedround_exec::ExecError;
use fedround_exec::tensor::{from_floats, from_ints};
use fedround_ir::fed::Kind;

use crate::columns::{column, gather_ids};
use crate::error::RunError;

/// The number of bytes that are copied at a time. Copying needs this much more host memory.
const CHUNK: usize = 64 << 20;
/// The largest number of elements of a tensor with 32-bit indices.
const MAX_ELEMENTS: u64 = 1 << 31;

/// Examples on a device. Each column has a row for each example, and then a row of zeros.
pub(crate) struct DeviceExamples {
    columns: Vec<(String, Kind, DispatchTensor)>,
    /// The index of the row of zeros, which clients that sit out a step get.
    pub blank: i32,
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
                Ok(column) if !column.is_decoded() => column.features() as u64,
                _ => return Ok(None),
            };
            if rows * features >= MAX_ELEMENTS || 4 * rows * features > each {
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
        // Wait until the tensors exist, because other threads read them.
        Dispatch::sync(device).map_err(ExecError::from)?;
        Ok(Some(Self {
            columns,
            blank: examples.len() as i32,
        }))
    }

    /// Whether it has all of these columns.
    pub fn has(&self, columns: &[(String, Kind)]) -> bool {
        let found = |(name, kind): &(String, Kind)| self.find(name, *kind).is_some();
        columns.iter().all(found)
    }

    /// A column by its name and kind.
    pub fn find(&self, name: &str, kind: Kind) -> Option<&DispatchTensor> {
        let mut columns = self.columns.iter();
        let found = columns.find(|(other, of, _)| other == name && *of == kind);
        found.map(|(_, _, tensor)| tensor)
    }
}

/// Whether a column is the examples' classes, of which each example has one.
fn is_label(name: &str, kind: Kind) -> bool {
    kind == Kind::Labels && name == "y"
}

/// Copies a column to a device, a part at a time.
fn copy(
    examples: &Examples,
    (name, kind): (&str, Kind),
    device: &DispatchDevice,
) -> Result<DispatchTensor, RunError> {
    let n = examples.len();
    let features = match is_label(name, kind) {
        true => 1,
        false => column(examples, name)?.features(),
    };
    // burn's fusion may compute wrong results for dimensions of size 1, so they are left out.
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
        let mut range = vec![Slice::new(
            part[0] as isize,
            Some((part[0] + part.len()) as isize),
            1,
        )];
        if features > 1 {
            range.push(Slice::new(0, Some(features as isize), 1));
        }
        let (size, shape) = (part.len() * features, shape(part.len()));
        if kind == Kind::Labels {
            let mut ids = vec![0; size];
            gather_ids(examples, name, part, &mut ids)?;
            let ids = from_ints(ids, &shape, device);
            return Ok(Dispatch::int_slice_assign(all, &range, ids));
        }
        let mut numbers = vec![0.0; size];
        column(examples, name)?.gather_into(part, &mut numbers)?;
        let numbers = from_floats(numbers, &shape, device);
        Ok(Dispatch::float_slice_assign(all, &range, numbers))
    })
}
