//! Tensors whose memory address stays the same while their values are replaced. A captured graph names its
//! buffers by address.

use burn::tensor::{DispatchTensor, Shape, Slice};
use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_backend::{FloatDType, IntDType, Scalar, TensorMetadata};
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_ir::tensor::{DType, TensorType};

use crate::device::ExecError;
use crate::tensor::dtype;

/// A tensor whose elements are overwritten in place. burn writes in place only if nobody else holds a handle
/// to the tensor, so others are given copies. `None` after a write that failed.
pub(super) struct Buffer(Option<DispatchTensor>);

impl Buffer {
    /// A buffer of zeros. `None` for masks and 16-bit floats, which are not inputs of any step.
    pub fn zeros(ty: &TensorType, device: &DispatchDevice) -> Option<Self> {
        let shape = Shape::from(ty.shape.clone());
        let zero = match ty.dtype {
            DType::F32 => Dispatch::float_full(shape, Scalar::Float(0.0), device, FloatDType::F32),
            DType::I32 => Dispatch::int_full(shape, Scalar::Int(0), device, IntDType::I32),
            DType::Bool | DType::BF16 | DType::F16 => return None,
        };
        Some(Self(Some(zero)))
    }

    /// A new buffer with a copy of the values. `None` for masks.
    pub fn copy_of(value: DispatchTensor, device: &DispatchDevice) -> Option<Self> {
        let shape = value.shape().as_slice().to_vec();
        let mut this = Self::zeros(&TensorType::new(dtype(&value), shape), device)?;
        this.write(value)?;
        Some(this)
    }

    /// Overwrites all elements with those of a tensor of the same shape.
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

    /// Overwrites the elements of a vector of floats from index `start` on.
    pub fn write_at(&mut self, start: usize, value: DispatchTensor) -> Option<()> {
        let end = start + value.shape().num_elements();
        let part = Slice::new(start as isize, Some(end as isize), 1);
        let old = self.0.take()?;
        self.0 = Some(Dispatch::float_slice_assign(old, &[part], value));
        Some(())
    }

    /// A handle to the buffer. It must be dropped before the next write, or the write would not be in place.
    pub fn lend(&self) -> Option<DispatchTensor> {
        self.0.clone()
    }

    /// A copy of the values in memory of its own.
    pub fn copy(&self, device: &DispatchDevice) -> Option<DispatchTensor> {
        Self::copy_of(self.lend()?, device)?.0
    }

    /// The shape of the buffer; the empty shape after a write that failed.
    pub fn shape(&self) -> Shape {
        let shape = self.0.as_ref().map(TensorMetadata::shape);
        shape.unwrap_or_else(|| Shape::from(Vec::<usize>::new()))
    }
}

/// The error of a buffer whose tensor is gone because a write failed.
pub(super) fn lost_buffer() -> ExecError {
    ExecError::NotReplayed("a buffer of the step was lost".to_owned())
}

/// A copy of the values in memory that the present thread allocated.
pub(super) fn copy_to_thread(
    value: DispatchTensor,
    device: &DispatchDevice,
) -> Option<DispatchTensor> {
    match dtype(&value) {
        // A buffer cannot hold masks. Two negations give a copy.
        DType::Bool => Some(Dispatch::bool_not(Dispatch::bool_not(value))),
        _ => Buffer::copy_of(value, device)?.0,
    }
}

/// Overwrites several buffers, each with one of the values in order.
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
