//! Computes one operation of the tensor dialect on a device.

mod cpu;
mod elementwise;
mod layers;
mod structure;

use burn::tensor::{DispatchTensor, Shape};
use burn_backend::ops::FloatTensorOps;
use burn_backend::{FloatDType, Scalar};
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_ir::tensor::{Family, Op};

pub use cpu::has_own_kernel;
pub(crate) use cpu::{only_reads, scaled_product};

use crate::tensor::constant;

/// Where an op is computed, and how.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The device.
    pub device: &'a DispatchDevice,
    /// Whether the CPU's convolutions are [exact](fedround_kernels::Conv2d::exact).
    pub exact_convolutions: bool,
}

impl<'a> From<&'a DispatchDevice> for Place<'a> {
    fn from(device: &'a DispatchDevice) -> Self {
        Self {
            device,
            exact_convolutions: false,
        }
    }
}

/// The results of an op: its value, and the indices of ops that give those too.
pub type Results = (DispatchTensor, Option<DispatchTensor>);

/// Applies `op` to the operands that `next` gives in order; `None` if one is missing, or if the op
/// is not one that a device computes alone: fused and random ops.
pub fn apply<'a>(
    op: &Op,
    place: impl Into<Place<'a>>,
    mut next: impl FnMut() -> Option<DispatchTensor>,
) -> Option<Results> {
    let place = place.into();
    let device = place.device;
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
        Op::MatMulAdd(_) => layers::apply(op, place, next),
        _ => match op.family() {
            Family::Elementwise => elementwise::apply(op, next),
            Family::Structure => structure::apply(op, device, next),
            Family::Layer => layers::apply(op, place, next),
            Family::Source | Family::Fused => None,
        },
    }
}

/// Gives the operands of an op in order.
type Next<'a> = &'a mut dyn FnMut() -> Option<DispatchTensor>;

fn one(t: DispatchTensor) -> Option<Results> {
    Some((t, None))
}
