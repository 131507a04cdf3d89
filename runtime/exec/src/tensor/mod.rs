//! Tensors on devices: creating them, reading them back, and moving them between devices.

mod finite;
mod half;
pub(crate) mod host;
mod readback;
mod rows;
mod transfer;

use burn::tensor::{DispatchTensor, Shape, TensorData};
use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_backend::{BoolDType, DType as BurnDType, FloatDType, IntDType, Scalar};
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_ir::tensor::{Constant, DType};

pub use finite::{all_finite, finite, finite_sums};
pub(crate) use half::{round, widen};
pub use host::{compact, floats, is_host};
pub use readback::{device_reads, read, read_all, read_ints};
pub use rows::{take_ints, take_rows};
pub use transfer::{transfer, transfer_all};

use crate::device::is_cpu;

/// The most tensors that are concatenated in one GPU kernel. A wgpu kernel takes about 30 at most; given
/// more, it silently gives zeros.
pub(crate) const CONCAT_LIMIT: usize = 16;

/// How masks are stored on the device of `t`: as bytes in host memory, and as 32-bit words on GPUs, whose
/// kernels have no smaller type.
pub(crate) fn mask_dtype(t: &DispatchTensor) -> BoolDType {
    if is_host(t) {
        BoolDType::Native
    } else {
        BoolDType::U32
    }
}

/// The element type of a tensor in the tensor dialect. 16-bit floats count as `f32`.
pub fn dtype(t: &DispatchTensor) -> DType {
    match burn_backend::TensorMetadata::dtype(t) {
        BurnDType::Bool(_) => DType::Bool,
        d if d.is_float() => DType::F32,
        _ => DType::I32,
    }
}

/// A tensor with the values of a constant.
pub fn constant(c: &Constant, device: &DispatchDevice) -> DispatchTensor {
    let shape = Shape::from(c.ty.shape.clone());
    match c.ty.dtype {
        DType::F32 | DType::BF16 | DType::F16 => {
            let values: Vec<f32> = c.values.iter().map(|&x| x as f32).collect();
            let values = Dispatch::float_from_data(TensorData::new(values, shape), device);
            match c.ty.dtype {
                DType::BF16 => round(values, FloatDType::BF16),
                DType::F16 => round(values, FloatDType::F16),
                _ => values,
            }
        }
        DType::I32 => {
            let values: Vec<i32> = c.values.iter().map(|&x| x as i32).collect();
            Dispatch::int_from_data(TensorData::new(values, shape), device)
        }
        DType::Bool if is_cpu(device) => {
            let values: Vec<bool> = c.values.iter().map(|&x| x != 0.0).collect();
            Dispatch::bool_from_data(TensorData::new(values, shape), device)
        }
        // A GPU cannot be given masks by the host. It is given numbers, and compares them with 0.
        DType::Bool => {
            let values: Vec<i32> = c.values.iter().map(|&x| i32::from(x != 0.0)).collect();
            let numbers = Dispatch::int_from_data(TensorData::new(values, shape), device);
            let mask = mask_dtype(&numbers);
            Dispatch::int_not_equal_elem(numbers, Scalar::Int(0), mask)
        }
    }
}

/// A tensor of `f32` values in row-major order.
pub fn from_floats(values: Vec<f32>, shape: &[usize], device: &DispatchDevice) -> DispatchTensor {
    Dispatch::float_from_data(TensorData::new(values, Shape::from(shape.to_vec())), device)
}

/// A tensor with one value for all elements, which is in memory once.
pub fn repeated(value: f32, shape: &[usize], device: &DispatchDevice) -> DispatchTensor {
    let once = from_floats(vec![value], &vec![1; shape.len()], device);
    Dispatch::float_expand(once, Shape::from(shape.to_vec()))
}

/// A tensor of one `i32`, which a GPU fills in itself: nothing is copied from the host.
pub fn filled_index(value: usize, device: &DispatchDevice) -> DispatchTensor {
    let value = Scalar::Int(value as i64);
    Dispatch::int_full(Shape::from([1]), value, device, IntDType::I32)
}

/// A tensor of `i32` values in row-major order.
pub fn from_ints(values: Vec<i32>, shape: &[usize], device: &DispatchDevice) -> DispatchTensor {
    Dispatch::int_from_data(TensorData::new(values, Shape::from(shape.to_vec())), device)
}
