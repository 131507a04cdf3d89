//! One op of the tensor dialect on burn's dispatch backend.

mod carry;
mod elementwise;
mod layers;
mod read;
mod short;
mod structure;

use burn::tensor::{DispatchTensor, Shape, TensorData};
use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_backend::{BoolDType, DType as BurnDType, FloatDType, Scalar};
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_ir::tensor::{Constant, DType, Family, Op};

use crate::device::is_cpu;
use crate::flex;

pub(crate) use carry::{carry, carry_all};
pub use read::device_reads;
pub(crate) use read::{read, read_all, values, wait};

/// Tensors that a GPU joins at once: a kernel of wgpu takes no more than some 30, and gives zeros where
/// it is given more.
const TOGETHER: usize = 16;

/// Results of an op: the second one for ops that also give indices.
pub(crate) type Results = (DispatchTensor, Option<DispatchTensor>);

/// How masks are stored where `t` lives: bytes in host memory, words on GPUs, whose kernels know no
/// smaller ones.
fn mask_dtype(t: &DispatchTensor) -> BoolDType {
    if flex::is_host(t) {
        BoolDType::Native
    } else {
        BoolDType::U32
    }
}

/// Applies `op` to the operands that `next` gives in order; `None` when one is missing.
pub(crate) fn apply(
    op: &Op,
    device: &DispatchDevice,
    mut next: impl FnMut() -> Option<DispatchTensor>,
) -> Option<Results> {
    let next: &mut dyn FnMut() -> Option<DispatchTensor> = &mut next;
    match op {
        Op::Full(c, shape) => {
            let shape = Shape::from(shape.clone());
            let value = Scalar::Float(*c);
            one(Dispatch::float_full(shape, value, device, FloatDType::F32))
        }
        Op::Constant(c) => one(constant(c, device)),
        // Run by its kernel (see `Instr::kernel`), and drawn by the caller (see `parametrize-constants`).
        Op::Fused(_) | Op::Random(..) => None,
        Op::Axpy(_) => elementwise::apply(op, next),
        Op::Dot => structure::apply(op, device, next),
        Op::MatMulAdd(_) => layers::apply(op, device, next),
        _ => match op.family() {
            Family::Elementwise => elementwise::apply(op, next),
            Family::Structure => structure::apply(op, device, next),
            Family::Layer => layers::apply(op, device, next),
            Family::Source | Family::Fused => None,
        },
    }
}

/// Gives the operands of an op in order.
type Next<'a> = &'a mut dyn FnMut() -> Option<DispatchTensor>;

fn one(t: DispatchTensor) -> Option<Results> {
    Some((t, None))
}

/// The element type of a tensor, as the dialect sees it; 16-bit floats are floats like others.
pub(crate) fn dtype(t: &DispatchTensor) -> DType {
    match burn_backend::TensorMetadata::dtype(t) {
        BurnDType::Bool(_) => DType::Bool,
        d if d.is_float() => DType::F32,
        _ => DType::I32,
    }
}

/// A tensor of known values on a device.
pub(crate) fn constant(c: &Constant, device: &DispatchDevice) -> DispatchTensor {
    let shape = Shape::from(c.ty.shape.clone());
    match c.ty.dtype {
        DType::F32 | DType::BF16 | DType::F16 => {
            let values: Vec<f32> = c.values.iter().map(|&x| x as f32).collect();
            let values = Dispatch::float_from_data(TensorData::new(values, shape), device);
            match c.ty.dtype {
                DType::BF16 => short::round(values, FloatDType::BF16),
                DType::F16 => short::round(values, FloatDType::F16),
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
        // GPUs take no masks from the host.
        DType::Bool => {
            let values: Vec<i32> = c.values.iter().map(|&x| i32::from(x != 0.0)).collect();
            let numbers = Dispatch::int_from_data(TensorData::new(values, shape), device);
            let mask = mask_dtype(&numbers);
            Dispatch::int_not_equal_elem(numbers, Scalar::Int(0), mask)
        }
    }
}

/// A float tensor on a device.
pub(crate) fn tensor(values: Vec<f32>, shape: &[usize], device: &DispatchDevice) -> DispatchTensor {
    Dispatch::float_from_data(TensorData::new(values, Shape::from(shape.to_vec())), device)
}

/// An integer tensor on a device.
pub(crate) fn ints(values: Vec<i32>, shape: &[usize], device: &DispatchDevice) -> DispatchTensor {
    Dispatch::int_from_data(TensorData::new(values, Shape::from(shape.to_vec())), device)
}
