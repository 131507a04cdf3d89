//! The kernels beside burn-flex's own, on one thread: `cargo bench -p fedround-kernels`.
//!
//! Items per second are floating-point operations of the convolution (for its bias gradient, which
//! does few, the number says nothing).

// A benchmark that cannot start should stop.
#![allow(clippy::expect_used)]

use burn_backend::ops::{ConvOptions, ModuleOps};
use burn_backend::{IntDType, TensorData, TensorMetadata};
use burn_flex::{Flex, FlexTensor};
use divan::{Bencher, black_box};
use fedround_kernels::{
    Conv2d, MaxPool2d, conv2d, conv2d_bias_grad, conv2d_input_grad, conv2d_weight_grad, max_pool2d,
    max_pool2d_backward,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.expect("a pool of one thread").install(divan::main);
}

/// Input and weight of one convolution; printed as the benchmark's argument.
#[derive(Debug, Clone, Copy)]
struct Conv([usize; 4], [usize; 4]);

impl std::fmt::Display for Conv {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Conv([n, c, h, w], [o, _, kh, kw]) = self;
        write!(f, "{n}x{c}x{h}x{w} to {o}, {kh}x{kw}")
    }
}

const CONVS: [Conv; 8] = [
    Conv([10, 1, 28, 28], [32, 1, 5, 5]),
    Conv([10, 32, 12, 12], [64, 32, 5, 5]),
    Conv([10, 3, 32, 32], [6, 3, 5, 5]),
    Conv([10, 6, 14, 14], [16, 6, 5, 5]),
    Conv([10, 3, 32, 32], [32, 3, 3, 3]),
    Conv([10, 32, 30, 30], [64, 32, 3, 3]),
    Conv([64, 32, 12, 12], [64, 32, 5, 5]),
    Conv([10, 128, 8, 8], [128, 128, 3, 3]),
];

const POOLS: [[usize; 4]; 4] = [
    [10, 32, 24, 24],
    [10, 64, 8, 8],
    [10, 6, 28, 28],
    [10, 64, 28, 28],
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
    /// Multiplications and additions, which divan prints per second as items.
    flops: usize,
}

impl Case {
    fn new(Conv(x_shape, w_shape): Conv) -> Self {
        let (x, w, bias) = (tensor(&x_shape), tensor(&w_shape), tensor(&w_shape[..1]));
        let ours = Conv2d::default();
        let grad = tensor(&conv2d(&x, &w, None, &ours).shape());
        let flops = 2 * grad.shape().num_elements() * w_shape[1] * w_shape[2] * w_shape[3];
        let burns = ConvOptions::new([1, 1], [0, 0], [1, 1], 1);
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
    conv_bias_grad: c => conv2d_bias_grad(&c.grad),
        Flex::conv2d_bias_backward(c.x.clone(), c.bias.clone(), c.grad.clone());
}

mod pool_forward {
    use super::*;

    #[divan::bench(args = POOLS.map(|s| format!("{s:?}")))]
    fn ours(bencher: Bencher, shape: &str) {
        let x = tensor(&pool_shape(shape));
        bencher.bench_local(|| max_pool2d(black_box(&x), &MaxPool2d::default()));
    }

    #[divan::bench(args = POOLS.map(|s| format!("{s:?}")))]
    fn burn(bencher: Bencher, shape: &str) {
        let x = tensor(&pool_shape(shape));
        bencher.bench_local(|| {
            let x = black_box(&x).clone();
            let kind = IntDType::I32;
            Flex::max_pool2d_with_indices(x, [2, 2], [2, 2], [0, 0], [1, 1], false, kind)
        });
    }
}

mod pool_backward {
    use super::*;

    #[divan::bench(args = POOLS.map(|s| format!("{s:?}")))]
    fn ours(bencher: Bencher, shape: &str) {
        let shape = pool_shape(shape);
        let (values, indices) = max_pool2d(&tensor(&shape), &MaxPool2d::default());
        bencher.bench_local(|| max_pool2d_backward(black_box(&values), &indices, shape));
    }

    #[divan::bench(args = POOLS.map(|s| format!("{s:?}")))]
    fn burn(bencher: Bencher, shape: &str) {
        let x = tensor(&pool_shape(shape));
        let (values, indices) = max_pool2d(&x, &MaxPool2d::default());
        bencher.bench_local(|| {
            let (x, grad, indices) = (x.clone(), black_box(&values).clone(), indices.clone());
            let size = [2, 2];
            let none = [0, 0];
            Flex::max_pool2d_with_indices_backward(
                x,
                size,
                size,
                none,
                [1, 1],
                false,
                grad,
                indices,
            )
        });
    }
}

/// The shape whose printed form is the benchmark's argument.
fn pool_shape(printed: &str) -> [usize; 4] {
    let found = POOLS.into_iter().find(|s| format!("{s:?}") == printed);
    found.expect("an argument of the benchmark")
}
