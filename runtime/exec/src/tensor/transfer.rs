//! Tensors from one device to another.

use burn::tensor::{DispatchTensor, Shape};
use burn_backend::ops::{BoolTensorOps, IntTensorOps};
use burn_backend::{IntDType, Scalar, TensorMetadata};
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_ir::tensor::DType;

use super::{dtype, mask_dtype, read, read_all, tensor, wait};
use crate::error::RunError;
use crate::flex;

/// Tensors on a device: those that are elsewhere are copied, through host memory, which waits once for
/// several.
///
/// # Errors
///
/// A device where one of them is failed.
pub(crate) fn carry_all(
    tensors: Vec<DispatchTensor>,
    device: &DispatchDevice,
) -> Result<Vec<DispatchTensor>, RunError> {
    if tensors.iter().all(|t| t.device() == *device) {
        return Ok(tensors);
    }
    if tensors.iter().any(|t| dtype(t) != DType::F32) {
        return tensors.into_iter().map(|t| carry(t, device)).collect();
    }
    let shapes: Vec<Shape> = tensors.iter().map(TensorMetadata::shape).collect();
    let values = read_all(tensors)?.into_iter().zip(&shapes);
    let copies = values.map(|(values, shape)| tensor(values, shape.as_slice(), device));
    Ok(copies.collect())
}

/// A tensor on a device; see [`carry_all`].
///
/// # Errors
///
/// The device where it is failed.
pub(crate) fn carry(
    t: DispatchTensor,
    device: &DispatchDevice,
) -> Result<DispatchTensor, RunError> {
    if t.device() == *device {
        return Ok(t);
    }
    Ok(match dtype(&t) {
        DType::F32 | DType::BF16 | DType::F16 => {
            let shape = t.shape();
            tensor(read(t)?, shape.as_slice(), device)
        }
        DType::I32 => {
            let on_host = flex::is_host(&t);
            let data = wait(on_host, Dispatch::int_into_data(t))?;
            Dispatch::int_from_data(data, device)
        }
        // Masks are stored in several ways.
        DType::Bool => {
            let numbers = carry(Dispatch::bool_into_int(t, IntDType::I32), device)?;
            let mask = mask_dtype(&numbers);
            Dispatch::int_not_equal_elem(numbers, Scalar::Int(0), mask)
        }
    })
}
