//! Computes matrix products, convolutions, pools and softmax: by fedround's own kernels where they apply,
//! and by burn's ops elsewhere.
//!
//! On GPUs, burn returns products of 16-bit floats as 16-bit floats, which are widened to `f32` here. burn's
//! direct convolutions also sum in 16 bits, so the operands of a convolution are widened before it.

use burn::tensor::{DispatchTensor, Shape};
use burn_backend::ops::{ActivationOps, ConvOptions, FloatTensorOps, ModuleOps};
use burn_backend::{FloatDType, IntDType, Scalar, TensorMetadata};
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_ir::tensor::{Conv2d, Op};

use super::structure::{start_reduction_kernel, with_channel_second};
use super::{Next, OpContext, Results, cpu, one};
use crate::tensor::{host, widen};

pub(super) fn apply(op: &Op, context: OpContext<'_>, next: Next<'_>) -> Option<Results> {
    let (device, exact) = (context.device, context.exact_convolutions);
    match op {
        Op::MatMul => {
            let (a, b) = (next()?, next()?);
            one(cpu::matmul(&a, &b).unwrap_or_else(|| widen(Dispatch::float_matmul(a, b))))
        }
        Op::MatMulAdd(c) => {
            let (y, s, a, b) = (next()?, next()?, next()?, next()?);
            if host::is_host_f32(&y) {
                return one(cpu::matmul_add(y, *c, &s, &a, &b)?);
            }
            let s = Dispatch::float_mul_scalar(s, Scalar::Float(*c));
            let s = Dispatch::float_reshape(s, Shape::from(vec![1, 1]));
            let step = Dispatch::float_mul(widen(Dispatch::float_matmul(a, b)), s);
            one(Dispatch::float_add(y, step))
        }
        Op::LogSoftmax(dim) => {
            let x = next()?;
            one(
                if host::is_host_f32(&x) && x.shape().num_dims() == dim + 1 {
                    cpu::log_softmax(x)?
                } else {
                    Dispatch::log_softmax(start_reduction_kernel(x), *dim)
                },
            )
        }
        Op::Conv2d(options) => {
            let (x, w, bias) = (widen(next()?), widen(next()?), next());
            one(
                cpu::conv2d(&x, &w, bias.as_ref(), options, exact).unwrap_or_else(|| {
                    with_channel_second(Dispatch::conv2d(x, w, bias, conv_options(options)))
                }),
            )
        }
        Op::Conv2dInputGrad(options, shape) => {
            let (w, g) = (widen(next()?), widen(next()?));
            one(
                cpu::conv2d_input_grad(&w, &g, shape, options, exact).unwrap_or_else(|| {
                    let x = empty(shape, device);
                    with_channel_second(Dispatch::conv2d_x_backward(x, w, g, conv_options(options)))
                }),
            )
        }
        Op::Conv2dWeightGrad(options, shape) => {
            let (x, g) = (widen(next()?), widen(next()?));
            one(
                cpu::conv2d_weight_grad(&x, &g, shape, options, exact).unwrap_or_else(|| {
                    let w = empty(shape, device);
                    Dispatch::conv2d_weight_backward(x, w, g, conv_options(options))
                }),
            )
        }
        Op::MaxPool2d(o) => {
            let x = next()?;
            Some(cpu::max_pool2d(&x, o).map_or_else(
                || {
                    let (k, s, p, d) = (o.kernel, o.stride, o.padding, o.dilation);
                    let int = IntDType::I32;
                    let r = Dispatch::max_pool2d_with_indices(x, k, s, p, d, false, int);
                    (with_channel_second(r.output), Some(r.indices))
                },
                |(y, indices)| (y, Some(indices)),
            ))
        }
        Op::MaxPool2dGrad(o) => {
            let (x, g, indices) = (next()?, next()?, next()?);
            one(
                cpu::max_pool2d_backward(&x, &g, &indices, o).unwrap_or_else(|| {
                    let (k, s, p, d) = (o.kernel, o.stride, o.padding, o.dilation);
                    let r = Dispatch::max_pool2d_with_indices_backward(
                        x, k, s, p, d, false, g, indices,
                    );
                    with_channel_second(r.x_grad)
                }),
            )
        }
        Op::AvgPool2d(o) => {
            let x = next()?;
            let pad = o.count_include_pad;
            one(cpu::avg_pool2d(&x, o).unwrap_or_else(|| {
                with_channel_second(Dispatch::avg_pool2d(
                    x, o.kernel, o.stride, o.padding, pad, false,
                ))
            }))
        }
        Op::AvgPool2dGrad(o) => {
            let (x, g) = (next()?, next()?);
            let (k, s, p, pad) = (o.kernel, o.stride, o.padding, o.count_include_pad);
            one(cpu::avg_pool2d_backward(&x, &g, o).unwrap_or_else(|| {
                with_channel_second(Dispatch::avg_pool2d_backward(x, g, k, s, p, pad, false))
            }))
        }
        _ => None,
    }
}

fn empty(shape: &[usize], device: &DispatchDevice) -> DispatchTensor {
    Dispatch::float_empty(Shape::from(shape.to_vec()), device, FloatDType::F32)
}

fn conv_options(o: &Conv2d) -> ConvOptions<2> {
    ConvOptions::new(o.stride, o.padding, o.dilation, o.groups)
}
