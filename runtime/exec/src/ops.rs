//! One op of the tensor dialect on burn's dispatch backend.

use burn::tensor::{DispatchTensor, Shape, Slice, TensorData};
use burn_backend::ops::{ActivationOps, ConvOptions, FloatTensorOps, IntTensorOps, ModuleOps};
use burn_backend::{FloatDType, IntDType, Scalar, TensorMetadata};
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_ir::tensor::{Conv2d, Op, Pool2d};

use crate::flex;

/// Results of an op: the second one for ops that also give indices.
pub(crate) type Results = (DispatchTensor, Option<DispatchTensor>);

/// Applies `op` to the operands that `next` gives in order; `None` when one is missing.
pub(crate) fn apply(
    op: &Op,
    device: &DispatchDevice,
    mut next: impl FnMut() -> Option<DispatchTensor>,
) -> Option<Results> {
    let one = |t: DispatchTensor| Some((t, None));
    match op {
        Op::Full(c, shape) => {
            let shape = Shape::from(shape.clone());
            one(Dispatch::float_full(
                shape,
                Scalar::Float(*c),
                device,
                FloatDType::F32,
            ))
        }
        Op::Add => one(Dispatch::float_add(next()?, next()?)),
        Op::Sub => one(Dispatch::float_sub(next()?, next()?)),
        Op::Mul => one(Dispatch::float_mul(next()?, next()?)),
        Op::Div => one(Dispatch::float_div(next()?, next()?)),
        Op::AddScalar(c) => one(Dispatch::float_add_scalar(next()?, Scalar::Float(*c))),
        Op::MulScalar(c) => one(Dispatch::float_mul_scalar(next()?, Scalar::Float(*c))),
        Op::Neg => one(Dispatch::float_neg(next()?)),
        Op::Exp => one(Dispatch::float_exp(next()?)),
        Op::Log => one(Dispatch::float_log(next()?)),
        Op::Sqrt => one(Dispatch::float_sqrt(next()?)),
        Op::Axpy(c) => {
            let (y, s, x) = (next()?, next()?, next()?);
            if flex::holds(&y) {
                return one(flex::axpy(y, *c, &s, &x)?);
            }
            let ones = Shape::from(vec![1; x.shape().num_dims()]);
            let s = Dispatch::float_mul_scalar(s, Scalar::Float(*c));
            let step = Dispatch::float_mul(x, Dispatch::float_reshape(s, ones));
            one(Dispatch::float_add(y, step))
        }
        Op::MatMulAdd(c) => {
            let (y, s, a, b) = (next()?, next()?, next()?, next()?);
            if flex::holds(&y) {
                return one(flex::matmul_add(y, *c, &s, &a, &b)?);
            }
            let s = Dispatch::float_mul_scalar(s, Scalar::Float(*c));
            let s = Dispatch::float_reshape(s, Shape::from(vec![1, 1]));
            let step = Dispatch::float_mul(Dispatch::float_matmul(a, b), s);
            one(Dispatch::float_add(y, step))
        }
        Op::Relu => one(Dispatch::relu(next()?)),
        Op::ReluGrad => {
            let (y, g) = (next()?, next()?);
            one(if flex::holds(&g) {
                flex::relu_backward(&y, g)?
            } else {
                Dispatch::relu_backward(y, g)
            })
        }
        Op::Reshape(shape) => {
            let (t, shape) = (next()?, Shape::from(shape.clone()));
            one(if t.dtype().is_float() {
                Dispatch::float_reshape(t, shape)
            } else {
                Dispatch::int_reshape(t, shape)
            })
        }
        Op::Permute(axes) => one(Dispatch::float_permute(next()?, axes)),
        Op::Expand(shape) => one(Dispatch::float_expand(next()?, Shape::from(shape.clone()))),
        Op::Slice(ranges) => one(Dispatch::float_slice(next()?, &slices(ranges))),
        Op::SliceAssign(ranges) => one(Dispatch::float_slice_assign(
            next()?,
            &slices(ranges),
            next()?,
        )),
        Op::Cat(dim) => {
            let tensors: Vec<DispatchTensor> = std::iter::from_fn(next).collect();
            one(Dispatch::float_cat(tensors, *dim))
        }
        Op::Sum => one(Dispatch::float_sum(next()?)),
        Op::Dot => {
            let (a, b) = (next()?, next()?);
            one(flex::dot(&a, &b, device)
                .unwrap_or_else(|| Dispatch::float_sum(Dispatch::float_mul(a, b))))
        }
        Op::SumDim(dim) => one(Dispatch::float_sum_dim(next()?, *dim)),
        Op::Mean => one(Dispatch::float_mean(next()?)),
        Op::MeanDim(dim) => one(Dispatch::float_mean_dim(next()?, *dim)),
        Op::MaxDim(dim) => {
            let (max, at) = Dispatch::float_max_dim_with_indices(next()?, *dim, IntDType::I32);
            Some((max, Some(at)))
        }
        Op::MatMul => {
            let (a, b) = (next()?, next()?);
            one(flex::matmul(&a, &b).unwrap_or_else(|| Dispatch::float_matmul(a, b)))
        }
        Op::LogSoftmax(dim) => one(Dispatch::log_softmax(next()?, *dim)),
        Op::Gather(dim) => one(Dispatch::float_gather(*dim, next()?, next()?)),
        Op::ScatterAdd(dim) => one(Dispatch::float_scatter_add(*dim, next()?, next()?, next()?)),
        Op::Conv2d(options) => {
            let (x, w, bias) = (next()?, next()?, next());
            one(flex::conv2d(&x, &w, bias.as_ref(), options)
                .unwrap_or_else(|| Dispatch::conv2d(x, w, bias, conv_options(options))))
        }
        Op::Conv2dInputGrad(options, shape) => {
            let (w, g) = (next()?, next()?);
            one(
                flex::conv2d_input_grad(&w, &g, shape, options).unwrap_or_else(|| {
                    let x = empty(shape, device);
                    Dispatch::conv2d_x_backward(x, w, g, conv_options(options))
                }),
            )
        }
        Op::Conv2dWeightGrad(options, shape) => {
            let (x, g) = (next()?, next()?);
            one(
                flex::conv2d_weight_grad(&x, &g, shape, options).unwrap_or_else(|| {
                    let w = empty(shape, device);
                    Dispatch::conv2d_weight_backward(x, w, g, conv_options(options))
                }),
            )
        }
        Op::MaxPool2d(o) => {
            let x = next()?;
            Some(flex::max_pool2d(&x, o).map_or_else(
                || {
                    let (k, s, p, d) = (o.kernel, o.stride, o.padding, o.dilation);
                    let int = IntDType::I32;
                    let r = Dispatch::max_pool2d_with_indices(x, k, s, p, d, false, int);
                    (r.output, Some(r.indices))
                },
                |(y, at)| (y, Some(at)),
            ))
        }
        Op::MaxPool2dGrad(o) => {
            let (x, g, at) = (next()?, next()?, next()?);
            one(
                flex::max_pool2d_backward(&x, &g, &at, o).unwrap_or_else(|| {
                    let (k, s, p, d) = (o.kernel, o.stride, o.padding, o.dilation);
                    Dispatch::max_pool2d_with_indices_backward(x, k, s, p, d, false, g, at).x_grad
                }),
            )
        }
        Op::AvgPool2d(Pool2d {
            kernel,
            stride,
            padding,
            count_include_pad,
            ..
        }) => one(Dispatch::avg_pool2d(
            next()?,
            *kernel,
            *stride,
            *padding,
            *count_include_pad,
            false,
        )),
        Op::AvgPool2dGrad(Pool2d {
            kernel,
            stride,
            padding,
            count_include_pad,
            ..
        }) => {
            let (x, g) = (next()?, next()?);
            let pad = *count_include_pad;
            one(Dispatch::avg_pool2d_backward(
                x, g, *kernel, *stride, *padding, pad, false,
            ))
        }
    }
}

/// A float tensor on a device.
pub(crate) fn tensor(values: Vec<f32>, shape: &[usize], device: &DispatchDevice) -> DispatchTensor {
    Dispatch::float_from_data(TensorData::new(values, Shape::from(shape.to_vec())), device)
}

/// An integer tensor on a device.
pub(crate) fn ints(values: Vec<i32>, device: &DispatchDevice) -> DispatchTensor {
    let len = values.len();
    Dispatch::int_from_data(TensorData::new(values, [len]), device)
}

/// The float values of a tensor, in row-major order.
pub(crate) fn values(tensor: DispatchTensor) -> Vec<f32> {
    if let Some(slice) = flex::floats(&tensor) {
        return slice.to_vec();
    }
    let data = burn_backend::read_sync(Dispatch::float_into_data(tensor)).ok();
    data.and_then(|d| d.try_to_vec::<f32>().ok())
        .unwrap_or_default()
}

fn empty(shape: &[usize], device: &DispatchDevice) -> DispatchTensor {
    Dispatch::float_empty(Shape::from(shape.to_vec()), device, FloatDType::F32)
}

fn slices(ranges: &[(usize, usize)]) -> Vec<Slice> {
    let slice = |&(a, b): &(usize, usize)| Slice::new(a as isize, Some(b as isize), 1);
    ranges.iter().map(slice).collect()
}

fn conv_options(o: &Conv2d) -> ConvOptions<2> {
    ConvOptions::new(o.stride, o.padding, o.dilation, o.groups)
}
