//! fedround's own kernels on tensors in host memory.
//!
//! Each function gives `None` if a tensor is elsewhere or the kernel does not support the shapes; the
//! caller then uses burn's op.

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use burn_flex::FlexTensor;
use fedround_ir::tensor::{Conv2d, Op, Pool2d};
use fedround_kernels as kernels;

use crate::tensor::from_floats;
use crate::tensor::host::{float, floats, int, peek, shape, take};

/// Whether fedround has a kernel of its own for an op on the CPU. Burn's op runs on other devices,
/// and for shapes that the kernel does not support.
pub fn has_own_kernel(op: &Op) -> bool {
    matches!(
        op,
        Op::Axpy(_)
            | Op::MatMulAdd(_)
            | Op::Fused(_)
            | Op::MatMul
            | Op::Dot
            | Op::ReluGrad
            | Op::Conv2d(_)
            | Op::Conv2dInputGrad(..)
            | Op::Conv2dWeightGrad(..)
            | Op::MaxPool2d(_)
            | Op::MaxPool2dGrad(_)
            | Op::AvgPool2d(_)
            | Op::AvgPool2dGrad(_)
    )
}

/// Whether an op leaves the buffer of an operand as it is, also where nobody else holds it.
pub(crate) fn only_reads(op: &Op, operand: usize) -> bool {
    match op {
        Op::SumDim(_) | Op::MeanDim(_) => true,
        Op::Axpy(_) | Op::MatMulAdd(_) => operand != 0,
        Op::ReluGrad => operand != 1,
        // Its program keeps the buffers that it does not give to results.
        Op::Fused(_) => false,
        op => has_own_kernel(op),
    }
}

fn conv_options(o: &Conv2d, exact: bool) -> kernels::Conv2d {
    kernels::Conv2d {
        stride: o.stride,
        padding: o.padding,
        dilation: o.dilation,
        groups: o.groups,
        exact,
    }
}

/// `y + c · s · x`, in place where `y` is not shared.
pub(crate) fn axpy(
    y: DispatchTensor,
    c: f64,
    s: &DispatchTensor,
    x: &DispatchTensor,
) -> Option<DispatchTensor> {
    let s = floats(s)?.first()?;
    Some(float(kernels::axpy(take(y)?, c as f32 * s, peek(x)?)))
}

/// `y + c · s · (a b)`, in place where `y` is not shared.
pub(crate) fn matmul_add(
    y: DispatchTensor,
    c: f64,
    s: &DispatchTensor,
    a: &DispatchTensor,
    b: &DispatchTensor,
) -> Option<DispatchTensor> {
    let s = floats(s)?.first()?;
    let (a, b) = (peek(a)?, peek(b)?);
    Some(float(kernels::matmul_update(take(y)?, c as f32 * s, a, b)))
}

/// `c · s · (a b)`, to be added to something.
pub(crate) fn scaled_product(
    c: f64,
    s: &DispatchTensor,
    a: &DispatchTensor,
    b: &DispatchTensor,
) -> Option<kernels::ScaledProduct> {
    let s = floats(s)?.first()?;
    Some(kernels::ScaledProduct::new(
        c as f32 * s,
        peek(a)?,
        peek(b)?,
    ))
}

/// `a b` of the last two dimensions.
pub(crate) fn matmul(a: &DispatchTensor, b: &DispatchTensor) -> Option<DispatchTensor> {
    Some(float(kernels::matmul(peek(a)?, peek(b)?)?))
}

/// Log-softmax along the last dimension, in place where `x` is not shared.
pub(crate) fn log_softmax(x: DispatchTensor) -> Option<DispatchTensor> {
    take(x).map(|x| float(kernels::log_softmax(x)))
}

/// `Σ a · b`, in one pass.
pub(crate) fn dot(
    a: &DispatchTensor,
    b: &DispatchTensor,
    device: &DispatchDevice,
) -> Option<DispatchTensor> {
    let sum = kernels::dot(floats(a)?, floats(b)?);
    Some(from_floats(vec![sum], &[1], device))
}

/// `g` where `y > 0`, else 0, in place where `g` is not shared.
pub(crate) fn relu_backward(y: &DispatchTensor, g: DispatchTensor) -> Option<DispatchTensor> {
    Some(float(kernels::relu_backward(peek(y)?, take(g)?)))
}

pub(crate) fn conv2d(
    x: &DispatchTensor,
    w: &DispatchTensor,
    bias: Option<&DispatchTensor>,
    options: &Conv2d,
    exact: bool,
) -> Option<DispatchTensor> {
    let (x, w, options) = (peek(x)?, peek(w)?, conv_options(options, exact));
    let supported = options.supports(shape(x), shape(w));
    supported.then(|| float(kernels::conv2d(x, w, bias.and_then(peek), &options)))
}

pub(crate) fn conv2d_input_grad(
    w: &DispatchTensor,
    g: &DispatchTensor,
    x_shape: &[usize],
    options: &Conv2d,
    exact: bool,
) -> Option<DispatchTensor> {
    let (w, g, options) = (peek(w)?, peek(g)?, conv_options(options, exact));
    let to = x_shape.try_into().ok()?;
    let supported = options.supports(x_shape, shape(w));
    supported.then(|| float(kernels::conv2d_input_grad(w, g, to, &options)))
}

pub(crate) fn conv2d_weight_grad(
    x: &DispatchTensor,
    g: &DispatchTensor,
    w_shape: &[usize],
    options: &Conv2d,
    exact: bool,
) -> Option<DispatchTensor> {
    let (x, g, options) = (peek(x)?, peek(g)?, conv_options(options, exact));
    let to = w_shape.try_into().ok()?;
    let supported = options.supports(shape(x), w_shape);
    supported.then(|| float(kernels::conv2d_weight_grad(x, g, to, &options)))
}

fn pool_options(o: &Pool2d, x: &FlexTensor) -> Option<kernels::MaxPool2d> {
    let options = kernels::MaxPool2d {
        kernel: o.kernel,
        stride: o.stride,
        padding: o.padding,
        dilation: o.dilation,
    };
    options.supports(shape(x)).then_some(options)
}

pub(crate) fn max_pool2d(
    x: &DispatchTensor,
    o: &Pool2d,
) -> Option<(DispatchTensor, DispatchTensor)> {
    let x = peek(x)?;
    let (y, at) = kernels::max_pool2d(x, &pool_options(o, x)?);
    Some((float(y), int(at)))
}

pub(crate) fn max_pool2d_backward(
    x: &DispatchTensor,
    g: &DispatchTensor,
    at: &DispatchTensor,
    o: &Pool2d,
) -> Option<DispatchTensor> {
    let x = peek(x)?;
    pool_options(o, x)?;
    let to = shape(x).try_into().ok()?;
    Some(float(kernels::max_pool2d_backward(peek(g)?, peek(at)?, to)))
}

fn mean_options(o: &Pool2d, x_shape: &[usize]) -> Option<kernels::AvgPool2d> {
    let options = kernels::AvgPool2d {
        kernel: o.kernel,
        stride: o.stride,
        padding: o.padding,
        count_include_pad: o.count_include_pad,
    };
    options.supports(x_shape).then_some(options)
}

pub(crate) fn avg_pool2d(x: &DispatchTensor, o: &Pool2d) -> Option<DispatchTensor> {
    let x = peek(x)?;
    let options = mean_options(o, shape(x))?;
    Some(float(kernels::avg_pool2d(x, &options)))
}

pub(crate) fn avg_pool2d_backward(
    x: &DispatchTensor,
    g: &DispatchTensor,
    o: &Pool2d,
) -> Option<DispatchTensor> {
    let x_shape = shape(peek(x)?);
    let options = mean_options(o, x_shape)?;
    let to = x_shape.try_into().ok()?;
    Some(float(kernels::avg_pool2d_backward(peek(g)?, to, &options)))
}
