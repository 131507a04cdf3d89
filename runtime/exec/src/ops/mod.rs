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

/// The device and the options with which an op is computed.
#[derive(Clone, Copy)]
pub struct OpContext<'a> {
    /// The device that computes the op.
    pub device: &'a DispatchDevice,
    /// Whether the CPU's convolutions are [exact](fedround_kernels::Conv2d::exact).
    pub exact_convolutions: bool,
}

impl<'a> From<&'a DispatchDevice> for OpContext<'a> {
    fn from(device: &'a DispatchDevice) -> Self {
        Self {
            device,
            exact_convolutions: false,
        }
    }
}

/// The results of an op: its value and, for ops that also give indices (`max_pool2d`, `max_dim`), those.
pub type Results = (DispatchTensor, Option<DispatchTensor>);

/// Computes `op`. `next` gives its operands in order. The result is `None` if an operand is missing, and for
/// ops that are not computed here: fused and random ones.
pub fn apply<'a>(
    op: &Op,
    context: impl Into<OpContext<'a>>,
    mut next: impl FnMut() -> Option<DispatchTensor>,
) -> Option<Results> {
    let context = context.into();
    let device = context.device;
    let next: &mut dyn FnMut() -> Option<DispatchTensor> = &mut next;
    match op {
        Op::Full(c, shape) => {
            let shape = Shape::from(shape.clone());
            let value = Scalar::Float(*c);
            one(Dispatch::float_full(shape, value, device, FloatDType::F32))
        }
        Op::Constant(c) => one(constant(c, device)),
        // A fused op is run by its kernel (`Instr::kernel`). A random op is an input that the caller draws
        // (see the pass `parametrize-constants`).
        Op::Fused(_) | Op::Random(..) => None,
        Op::Axpy(_) => elementwise::apply(op, next),
        Op::Dot => structure::apply(op, device, next),
        Op::MatMulAdd(_) => layers::apply(op, context, next),
        _ => match op.family() {
            Family::Elementwise => elementwise::apply(op, next),
            Family::Structure => structure::apply(op, device, next),
            Family::Layer => layers::apply(op, context, next),
            Family::Source | Family::Fused => None,
        },
    }
}

/// A function that gives the operands of an op, one after another.
type Next<'a> = &'a mut dyn FnMut() -> Option<DispatchTensor>;

/// The results of an op that gives one tensor.
fn one(t: DispatchTensor) -> Option<Results> {
    Some((t, None))
}
