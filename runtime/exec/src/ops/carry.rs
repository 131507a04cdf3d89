//! Tensors from one device to another.

use burn::tensor::DispatchTensor;
use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_backend::{IntDType, Scalar, TensorMetadata};
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_ir::tensor::DType;

use super::{dtype, mask_dtype};
use crate::error::RunError;

/// Tensors on a device; see [`carry`].
///
/// # Errors
///
/// A device where one of them is failed.
pub(crate) fn carry_all(
    tensors: Vec<DispatchTensor>,
    device: &DispatchDevice,
) -> Result<Vec<DispatchTensor>, RunError> {
    tensors.into_iter().map(|t| carry(t, device)).collect()
}

/// A tensor on a device: itself if it is there, or else a copy, through host memory.
///
/// # Errors
///
/// The device where it is failed.
pub(crate) fn carry(
    tensor: DispatchTensor,
    device: &DispatchDevice,
) -> Result<DispatchTensor, RunError> {
    if tensor.device() == *device {
        return Ok(tensor);
    }
    Ok(match dtype(&tensor) {
        DType::F32 | DType::BF16 | DType::F16 => {
            let data = burn_backend::read_sync(Dispatch::float_into_data(tensor));
            Dispatch::float_from_data(data.map_err(RunError::device)?, device)
        }
        DType::I32 => {
            let data = burn_backend::read_sync(Dispatch::int_into_data(tensor));
            Dispatch::int_from_data(data.map_err(RunError::device)?, device)
        }
        // Masks are stored in several ways.
        DType::Bool => {
            let numbers = carry(Dispatch::bool_into_int(tensor, IntDType::I32), device)?;
            let mask = mask_dtype(&numbers);
            Dispatch::int_not_equal_elem(numbers, Scalar::Int(0), mask)
        }
    })
}
