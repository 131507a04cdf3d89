//! Calls fedround's CPU kernels on tensors in host memory.
//!
//! Each function gives `None` if a tensor is on another device or the kernel does not support the shapes.
//! The caller then uses burn's op.

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use burn_flex::FlexTensor;
use fedround_ir::tensor::{Conv2d, Op, Pool2d};
use fedround_kernels as kernels;

use crate::tensor::from_floats;
use crate::tensor::host::{as_flex, floats, into_flex_float, shape, wrap_float, wrap_int};

/// Whether fedround has a CPU kernel for an op. burn's op runs on other devices, and for shapes that the
/// kernel does not support.
pub fn has_own_kernel(op: &Op) -> bool {
    matches!(
        op,
        Op::Axpy(_)
            | Op::MatMulAdd(_)
            | Op::Fused(_)
            | Op::MatMul
            | Op::LogSoftmax(_)
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

/// Whether an op never writes its result into the buffer of this operand, even if nobody else holds the
/// buffer.
pub(crate) fn only_reads(op: &Op, operand: usize) -> bool {
    match op {
        Op::SumDim(_) | Op::MeanDim(_) => true,
        Op::Axpy(_) | Op::MatMulAdd(_) => operand != 0,
        Op::ReluGrad => operand != 1,
        // Written in place along the last dimension.
        Op::LogSoftmax(_) => false,
        // The fused program itself returns to the pool those buffers that it does not reuse for results.
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

/// `y + c · s · x`, in place if `y` is not shared.
pub(crate) fn axpy(
    y: DispatchTensor,
    c: f64,
    s: &DispatchTensor,
    x: &DispatchTensor,
) -> Option<DispatchTensor> {
    let s = floats(s)?.first()?;
    Some(wrap_float(kernels::axpy(
        into_flex_float(y)?,
        c as f32 * s,
        as_flex(x)?,
    )))
}

/// `y + c · s · (a b)`, in place if `y` is not shared.
pub(crate) fn matmul_add(
    y: DispatchTensor,
    c: f64,
    s: &DispatchTensor,
    a: &DispatchTensor,
    b: &DispatchTensor,
) -> Option<DispatchTensor> {
    let s = floats(s)?.first()?;
    let (a, b) = (as_flex(a)?, as_flex(b)?);
    Some(wrap_float(kernels::matmul_update(
        into_flex_float(y)?,
        c as f32 * s,
        a,
        b,
    )))
}

/// The product `c · s · (a b)`, which the caller adds to another tensor.
pub(crate) fn scaled_product(
    c: f64,
    s: &DispatchTensor,
    a: &DispatchTensor,
    b: &DispatchTensor,
) -> Option<kernels::ScaledProduct> {
    let s = floats(s)?.first()?;
    Some(kernels::ScaledProduct::new(
        c as f32 * s,
        as_flex(a)?,
        as_flex(b)?,
    ))
}

/// The matrix product `a b` over the last two dimensions.
pub(crate) fn matmul(a: &DispatchTensor, b: &DispatchTensor) -> Option<DispatchTensor> {
    Some(wrap_float(kernels::matmul(as_flex(a)?, as_flex(b)?)?))
}

/// Log-softmax along the last dimension, in place if `x` is not shared.
pub(crate) fn log_softmax(x: DispatchTensor) -> Option<DispatchTensor> {
    into_flex_float(x).map(|x| wrap_float(kernels::log_softmax(x)))
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

/// 0 where `y ≤ 0`, and `g` elsewhere; in place if `g` is not shared.
pub(crate) fn relu_backward(y: &DispatchTensor, g: DispatchTensor) -> Option<DispatchTensor> {
    Some(wrap_float(kernels::relu_backward(
        as_flex(y)?,
        into_flex_float(g)?,
    )))
}

pub(crate) fn conv2d(
    x: &DispatchTensor,
    w: &DispatchTensor,
    bias: Option<&DispatchTensor>,
    options: &Conv2d,
    exact: bool,
) -> Option<DispatchTensor> {
    let (x, w, options) = (as_flex(x)?, as_flex(w)?, conv_options(options, exact));
    let supported = options.supports(shape(x), shape(w));
    supported.then(|| wrap_float(kernels::conv2d(x, w, bias.and_then(as_flex), &options)))
}

pub(crate) fn conv2d_input_grad(
    w: &DispatchTensor,
    g: &DispatchTensor,
    x_shape: &[usize],
    options: &Conv2d,
    exact: bool,
) -> Option<DispatchTensor> {
    let (w, g, options) = (as_flex(w)?, as_flex(g)?, conv_options(options, exact));
    let dims = x_shape.try_into().ok()?;
    let supported = options.supports(x_shape, shape(w));
    supported.then(|| wrap_float(kernels::conv2d_input_grad(w, g, dims, &options)))
}

pub(crate) fn conv2d_weight_grad(
    x: &DispatchTensor,
    g: &DispatchTensor,
    w_shape: &[usize],
    options: &Conv2d,
    exact: bool,
) -> Option<DispatchTensor> {
    let (x, g, options) = (as_flex(x)?, as_flex(g)?, conv_options(options, exact));
    let dims = w_shape.try_into().ok()?;
    let supported = options.supports(shape(x), w_shape);
    supported.then(|| wrap_float(kernels::conv2d_weight_grad(x, g, dims, &options)))
}

fn max_pool_options(o: &Pool2d, x: &FlexTensor) -> Option<kernels::MaxPool2d> {
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
    let x = as_flex(x)?;
    let (y, indices) = kernels::max_pool2d(x, &max_pool_options(o, x)?);
    Some((wrap_float(y), wrap_int(indices)))
}

pub(crate) fn max_pool2d_backward(
    x: &DispatchTensor,
    g: &DispatchTensor,
    indices: &DispatchTensor,
    o: &Pool2d,
) -> Option<DispatchTensor> {
    let x = as_flex(x)?;
    max_pool_options(o, x)?;
    let x_shape = shape(x).try_into().ok()?;
    let (g, indices) = (as_flex(g)?, as_flex(indices)?);
    Some(wrap_float(kernels::max_pool2d_backward(
        g, indices, x_shape,
    )))
}

fn avg_pool_options(o: &Pool2d, x_shape: &[usize]) -> Option<kernels::AvgPool2d> {
    let options = kernels::AvgPool2d {
        kernel: o.kernel,
        stride: o.stride,
        padding: o.padding,
        count_include_pad: o.count_include_pad,
    };
    options.supports(x_shape).then_some(options)
}

pub(crate) fn avg_pool2d(x: &DispatchTensor, o: &Pool2d) -> Option<DispatchTensor> {
    let x = as_flex(x)?;
    let options = avg_pool_options(o, shape(x))?;
    Some(wrap_float(kernels::avg_pool2d(x, &options)))
}

pub(crate) fn avg_pool2d_backward(
    x: &DispatchTensor,
    g: &DispatchTensor,
    o: &Pool2d,
) -> Option<DispatchTensor> {
    let x_shape = shape(as_flex(x)?);
    let options = avg_pool_options(o, x_shape)?;
    let dims = x_shape.try_into().ok()?;
    Some(wrap_float(kernels::avg_pool2d_backward(
        as_flex(g)?,
        dims,
        &options,
    )))
}
