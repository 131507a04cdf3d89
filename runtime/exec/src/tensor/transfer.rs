//! Moves tensors from one device to another.

use burn::tensor::{DispatchTensor, Shape};
use burn_backend::ops::{BoolTensorOps, IntTensorOps};
use burn_backend::{IntDType, Scalar, TensorMetadata};
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_ir::tensor::DType;

use super::host::is_host;
use super::readback::{read, read_all, wait_for_data};
use super::{dtype, from_floats, mask_dtype};
use crate::device::ExecError;

/// Moves tensors to a device. Tensors of other devices are copied through host memory, and the host waits
/// once for several of them.
///
/// # Errors
///
/// A device that holds one of them has failed.
pub fn transfer_all(
    tensors: Vec<DispatchTensor>,
    device: &DispatchDevice,
) -> Result<Vec<DispatchTensor>, ExecError> {
    if tensors.iter().all(|t| t.device() == *device) {
        return Ok(tensors);
    }
    if tensors.iter().any(|t| dtype(t) != DType::F32) {
        return tensors.into_iter().map(|t| transfer(t, device)).collect();
    }
    let shapes: Vec<Shape> = tensors.iter().map(TensorMetadata::shape).collect();
    let values = read_all(tensors)?.into_iter().zip(&shapes);
    let copies = values.map(|(values, shape)| from_floats(values, shape.as_slice(), device));
    Ok(copies.collect())
}

/// Moves a tensor to a device; see [`transfer_all`].
///
/// # Errors
///
/// The device that holds it has failed.
pub fn transfer(t: DispatchTensor, device: &DispatchDevice) -> Result<DispatchTensor, ExecError> {
    if t.device() == *device {
        return Ok(t);
    }
    Ok(match dtype(&t) {
        DType::F32 | DType::BF16 | DType::F16 => {
            let shape = t.shape();
            from_floats(read(t)?, shape.as_slice(), device)
        }
        DType::I32 => {
            let on_host = is_host(&t);
            let data = wait_for_data(on_host, Dispatch::int_into_data(t))?;
            Dispatch::int_from_data(data, device)
        }
        // The devices store masks differently (see `mask_dtype`), so a mask is transferred as integers.
        DType::Bool => {
            let numbers = transfer(Dispatch::bool_into_int(t, IntDType::I32), device)?;
            let mask = mask_dtype(&numbers);
            Dispatch::int_not_equal_elem(numbers, Scalar::Int(0), mask)
        }
    })
}
