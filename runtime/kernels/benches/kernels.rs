//! Compares convolutions and pools with burn-flex's own, on one thread: `cargo bench -p fedround-kernels`.
//!
//! The items per second of a convolution are its floating-point operations.

// A benchmark that cannot start should stop.
#![allow(clippy::expect_used)]

use burn_backend::ops::{ConvOptions, ModuleOps};
use burn_backend::{IntDType, TensorData, TensorMetadata};
use burn_flex::{Flex, FlexTensor};
use divan::{Bencher, black_box};
use fedround_kernels::{
    AvgPool2d, Conv2d, MaxPool2d, avg_pool2d, avg_pool2d_backward, conv2d, conv2d_input_grad,
    conv2d_weight_grad, max_pool2d, max_pool2d_backward,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.expect("a pool of one thread").install(divan::main);
}

/// Input, weight, stride, padding and groups of one convolution; printed as the benchmark's argument.
#[derive(Debug, Clone, Copy)]
struct Conv([usize; 4], [usize; 4], usize, usize, usize);

impl std::fmt::Display for Conv {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Conv([n, c, h, w], [o, _, kh, kw], stride, padding, groups) = self;
        write!(f, "{n}x{c}x{h}x{w} to {o}, {kh}x{kw}")?;
        for (name, value, plain) in [("s", stride, 1), ("p", padding, 0), ("g", groups, 1)] {
            if *value != plain {
                write!(f, " {name}{value}")?;
            }
        }
        Ok(())
    }
}

/// Convolutions of the benchmark models, of ResNet-18 on CIFAR, with 1x1 kernels, and with groups.
const CONVS: [Conv; 17] = [
    Conv([10, 1, 28, 28], [32, 1, 5, 5], 1, 0, 1),
    Conv([10, 32, 12, 12], [64, 32, 5, 5], 1, 0, 1),
    Conv([10, 3, 32, 32], [6, 3, 5, 5], 1, 0, 1),
    Conv([10, 6, 14, 14], [16, 6, 5, 5], 1, 0, 1),
    Conv([10, 3, 32, 32], [32, 3, 3, 3], 1, 0, 1),
    Conv([10, 32, 30, 30], [64, 32, 3, 3], 1, 0, 1),
    Conv([64, 32, 12, 12], [64, 32, 5, 5], 1, 0, 1),
    Conv([10, 64, 32, 32], [64, 64, 3, 3], 1, 1, 1),
    Conv([10, 64, 32, 32], [128, 64, 3, 3], 2, 1, 1),
    Conv([10, 128, 16, 16], [128, 128, 3, 3], 1, 1, 1),
    Conv([10, 256, 8, 8], [256, 256, 3, 3], 1, 1, 1),
    Conv([10, 512, 4, 4], [512, 512, 3, 3], 1, 1, 1),
    Conv([10, 64, 32, 32], [128, 64, 1, 1], 2, 0, 1),
    Conv([10, 256, 16, 16], [64, 256, 1, 1], 1, 0, 1),
    Conv([10, 512, 8, 8], [512, 512, 1, 1], 1, 0, 1),
    Conv([10, 64, 16, 16], [64, 16, 3, 3], 1, 1, 4),
    Conv([10, 64, 16, 16], [64, 1, 3, 3], 1, 1, 64),
];

/// Image and window of one pool, with its stride and padding; printed as the benchmark's argument.
#[derive(Debug, Clone, Copy)]
struct Pool([usize; 4], usize, usize, usize);

impl std::fmt::Display for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Pool([n, c, h, w], k, stride, padding) = self;
        write!(f, "{n}x{c}x{h}x{w}, {k}x{k} s{stride} p{padding}")
    }
}

const POOLS: [Pool; 7] = [
    Pool([10, 32, 24, 24], 2, 2, 0),
    Pool([10, 64, 8, 8], 2, 2, 0),
    Pool([10, 6, 28, 28], 2, 2, 0),
    Pool([10, 64, 28, 28], 2, 2, 0),
    Pool([10, 64, 32, 32], 3, 2, 1),
    Pool([10, 64, 16, 16], 3, 1, 1),
    Pool([10, 512, 4, 4], 4, 1, 0),
];

fn tensor(shape: &[usize]) -> FlexTensor {
    let values: Vec<f32> = (0..shape.iter().product())
        .map(|i: usize| ((i * 7919) % 1000) as f32 / 500.0 - 1.0)
        .collect();
    FlexTensor::from_data(TensorData::new(values, shape.to_vec()))
}

/// The tensors of one convolution.
struct Case {
    x: FlexTensor,
    w: FlexTensor,
    bias: FlexTensor,
    grad: FlexTensor,
    x_shape: [usize; 4],
    w_shape: [usize; 4],
    ours: Conv2d,
    burns: ConvOptions<2>,
    /// The number of multiplications and additions, which divan prints per second as items.
    flops: usize,
}

impl Case {
    fn new(Conv(x_shape, w_shape, stride, padding, groups): Conv) -> Self {
        let (x, w, bias) = (tensor(&x_shape), tensor(&w_shape), tensor(&w_shape[..1]));
        let ours = Conv2d {
            stride: [stride; 2],
            padding: [padding; 2],
            dilation: [1, 1],
            groups,
            exact: false,
        };
        let grad = tensor(&conv2d(&x, &w, None, &ours).shape());
        let flops = 2 * grad.shape().num_elements() * w_shape[1] * w_shape[2] * w_shape[3];
        let burns = ConvOptions::new(ours.stride, ours.padding, ours.dilation, groups);
        Self {
            x,
            w,
            bias,
            grad,
            x_shape,
            w_shape,
            ours,
            burns,
            flops,
        }
    }

    fn bench<R>(self, bencher: Bencher, f: impl Fn(&Self) -> R + Sync) {
        bencher
            .counter(divan::counter::ItemsCount::new(self.flops))
            .bench_local(|| f(black_box(&self)));
    }
}

macro_rules! conv_benches {
    ($($group:ident: $case:ident => $ours:expr, $burns:expr;)+) => {$(
        mod $group {
            use super::*;

            #[divan::bench(args = CONVS)]
            fn ours(bencher: Bencher, conv: Conv) {
                Case::new(conv).bench(bencher, |$case| $ours);
            }

            #[divan::bench(args = CONVS)]
            fn burn(bencher: Bencher, conv: Conv) {
                Case::new(conv).bench(bencher, |$case| $burns);
            }
        }
    )+};
}

conv_benches! {
    conv_forward: c => conv2d(&c.x, &c.w, Some(&c.bias), &c.ours),
        Flex::conv2d(c.x.clone(), c.w.clone(), Some(c.bias.clone()), c.burns.clone());
    conv_input_grad: c => conv2d_input_grad(&c.w, &c.grad, c.x_shape, &c.ours),
        Flex::conv2d_x_backward(c.x.clone(), c.w.clone(), c.grad.clone(), c.burns.clone());
    conv_weight_grad: c => conv2d_weight_grad(&c.x, &c.grad, c.w_shape, &c.ours),
        Flex::conv2d_weight_backward(c.x.clone(), c.w.clone(), c.grad.clone(), c.burns.clone());
}

/// The tensors of one pool.
struct PoolCase {
    x: FlexTensor,
    grad: FlexTensor,
    indices: FlexTensor,
    x_shape: [usize; 4],
    max: MaxPool2d,
    average: AvgPool2d,
}

impl PoolCase {
    fn new(Pool(x_shape, kernel, stride, padding): Pool) -> Self {
        let (kernel, stride, padding) = ([kernel; 2], [stride; 2], [padding; 2]);
        let max = MaxPool2d {
            kernel,
            stride,
            padding,
            dilation: [1, 1],
        };
        let average = AvgPool2d {
            kernel,
            stride,
            padding,
            count_include_pad: true,
        };
        let x = tensor(&x_shape);
        let (grad, indices) = max_pool2d(&x, &max);
        Self {
            x,
            grad,
            indices,
            x_shape,
            max,
            average,
        }
    }
}

macro_rules! pool_benches {
    ($($group:ident: $case:ident => $ours:expr, $burns:expr;)+) => {$(
        mod $group {
            use super::*;

            #[divan::bench(args = POOLS)]
            fn ours(bencher: Bencher, pool: Pool) {
                let case = PoolCase::new(pool);
                let run = |$case: &PoolCase| $ours;
                bencher.bench_local(|| run(black_box(&case)));
            }

            #[divan::bench(args = POOLS)]
            fn burn(bencher: Bencher, pool: Pool) {
                let case = PoolCase::new(pool);
                let run = |$case: &PoolCase| $burns;
                bencher.bench_local(|| run(black_box(&case)));
            }
        }
    )+};
}

pool_benches! {
    max_pool: c => max_pool2d(&c.x, &c.max), {
        let MaxPool2d { kernel, stride, padding, dilation } = c.max;
        let kind = IntDType::I32;
        Flex::max_pool2d_with_indices(c.x.clone(), kernel, stride, padding, dilation, false, kind)
    };
    max_pool_grad: c => max_pool2d_backward(&c.grad, &c.indices, c.x_shape), {
        let MaxPool2d { kernel, stride, padding, dilation } = c.max;
        let (x, grad, at) = (c.x.clone(), c.grad.clone(), c.indices.clone());
        Flex::max_pool2d_with_indices_backward(
            x, kernel, stride, padding, dilation, false, grad, at,
        )
    };
    average_pool: c => avg_pool2d(&c.x, &c.average), {
        let AvgPool2d { kernel, stride, padding, count_include_pad } = c.average;
        Flex::avg_pool2d(c.x.clone(), kernel, stride, padding, count_include_pad, false)
    };
    average_pool_grad: c => avg_pool2d_backward(&c.grad, c.x_shape, &c.average), {
        let AvgPool2d { kernel, stride, padding, count_include_pad } = c.average;
        let (x, grad) = (c.x.clone(), c.grad.clone());
        Flex::avg_pool2d_backward(x, grad, kernel, stride, padding, count_include_pad, false)
    };
}
