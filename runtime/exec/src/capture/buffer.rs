//! Tensors whose memory address stays the same while their values are replaced.

use burn::tensor::{DispatchTensor, Shape, Slice};
use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_backend::{FloatDType, IntDType, Scalar, TensorMetadata};
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_ir::tensor::{DType, TensorType};

use crate::device::ExecError;
use crate::tensor::dtype;

/// A tensor whose elements are replaced where they are. That takes a handle that nothing shares:
/// what others get of it are copies.
pub(super) struct Buffer(Option<DispatchTensor>);

impl Buffer {
    /// A buffer of zeros. `None` for masks and 16-bit floats, which no step is given.
    pub fn blank(ty: &TensorType, device: &DispatchDevice) -> Option<Self> {
        let shape = Shape::from(ty.shape.clone());
        let zero = match ty.dtype {
            DType::F32 => Dispatch::float_full(shape, Scalar::Float(0.0), device, FloatDType::F32),
            DType::I32 => Dispatch::int_full(shape, Scalar::Int(0), device, IntDType::I32),
            DType::Bool | DType::BF16 | DType::F16 => return None,
        };
        Some(Self(Some(zero)))
    }

    /// A buffer of the same type that holds the same. `None` for masks.
    pub fn of(value: DispatchTensor, device: &DispatchDevice) -> Option<Self> {
        let shape = value.shape().as_slice().to_vec();
        let mut this = Self::blank(&TensorType::new(dtype(&value), shape), device)?;
        this.write(value)?;
        Some(this)
    }

    /// Replaces all elements by those of a tensor of the same shape.
    pub fn write(&mut self, value: DispatchTensor) -> Option<()> {
        let old = self.0.take()?;
        let whole: Vec<Slice> = old
            .shape()
            .as_slice()
            .iter()
            .map(|&n| Slice::new(0, Some(n as isize), 1))
            .collect();
        self.0 = Some(match dtype(&old) {
            DType::F32 => Dispatch::float_slice_assign(old, &whole, value),
            DType::I32 => Dispatch::int_slice_assign(old, &whole, value),
            DType::Bool | DType::BF16 | DType::F16 => return None,
        });
        Some(())
    }

    /// Replaces elements of a vector of floats, from a place on.
    pub fn write_at(&mut self, place: usize, value: DispatchTensor) -> Option<()> {
        let end = place + value.shape().num_elements();
        let part = Slice::new(place as isize, Some(end as isize), 1);
        let old = self.0.take()?;
        self.0 = Some(Dispatch::float_slice_assign(old, &[part], value));
        Some(())
    }

    /// A handle, to be gone before the next write.
    pub fn lend(&self) -> Option<DispatchTensor> {
        self.0.clone()
    }

    /// A copy.
    pub fn copy(&self, device: &DispatchDevice) -> Option<DispatchTensor> {
        Self::of(self.lend()?, device)?.0
    }

    /// Its shape; empty where a write failed.
    pub fn shape(&self) -> Shape {
        let shape = self.0.as_ref().map(TensorMetadata::shape);
        shape.unwrap_or_else(|| Shape::from(Vec::<usize>::new()))
    }
}

/// The error of a buffer that is gone.
pub(super) fn lost() -> ExecError {
    ExecError::NotReplayed("a buffer of the step was lost".to_owned())
}

/// The same values in memory of the present thread's own.
pub(super) fn own(value: DispatchTensor, device: &DispatchDevice) -> Option<DispatchTensor> {
    match dtype(&value) {
        DType::Bool => Some(Dispatch::bool_not(Dispatch::bool_not(value))),
        _ => Buffer::of(value, device)?.0,
    }
}

/// Replaces the elements of several buffers.
pub(super) fn write_all<'a>(
    buffers: impl IntoIterator<Item = &'a mut Buffer>,
    values: impl IntoIterator<Item = DispatchTensor>,
) -> Option<()> {
    let mut values = values.into_iter();
    for buffer in buffers {
        buffer.write(values.next()?)?;
    }
    Some(())
}
