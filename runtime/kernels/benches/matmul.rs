//! Compares matrix products of small batches with burn-flex's own, on one thread:
//! `cargo bench -p fedround-kernels --bench matmul`.
//!
//! Items per second are floating-point operations of the product. `ours` is burn-flex's product for shapes that this crate
//! leaves to burn-flex.

// A benchmark that cannot start should stop.
#![allow(clippy::expect_used)]

use burn_backend::TensorData;
use burn_backend::ops::FloatTensorOps;
use burn_flex::{Flex, FlexTensor};
use divan::{Bencher, black_box};
use fedround_kernels::{matmul, matmul_update};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.expect("a pool of one thread").install(divan::main);
}

/// Inputs and outputs of the benchmark models' dense layers.
const LAYERS: [[usize; 2]; 11] = [
    [784, 200],
    [200, 200],
    [200, 10],
    [784, 10],
    [1024, 512],
    [512, 10],
    [400, 120],
    [120, 84],
    [84, 10],
    [12544, 128],
    [2048, 2048],
];

/// A layer and its batch, printed as the benchmark's argument.
#[derive(Clone, Copy)]
struct Dense(usize, [usize; 2]);

impl std::fmt::Display for Dense {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Dense(batch, [inputs, outputs]) = self;
        write!(f, "{batch}x{inputs} to {outputs}")
    }
}

fn all() -> impl Iterator<Item = Dense> {
    LAYERS
        .into_iter()
        .flat_map(|layer| [10, 20, 50, 64].map(|batch| Dense(batch, layer)))
}

fn tensor(rows: usize, columns: usize) -> FlexTensor {
    let values: Vec<f32> = (0..rows * columns)
        .map(|i| ((i * 7919) % 1000) as f32 / 500.0 - 1.0)
        .collect();
    FlexTensor::from_data(TensorData::new(values, [rows, columns]))
}

/// The tensors of one layer.
struct Case {
    x: FlexTensor,
    w: FlexTensor,
    grad: FlexTensor,
    /// The number of multiplications and additions, which divan prints per second as items.
    flops: usize,
}

impl Case {
    fn new(Dense(batch, [inputs, outputs]): Dense) -> Self {
        Self {
            x: tensor(batch, inputs),
            w: tensor(inputs, outputs),
            grad: tensor(batch, outputs),
            flops: 2 * batch * inputs * outputs,
        }
    }

    fn bench<R>(self, bencher: Bencher, f: impl Fn(&Self) -> R) {
        bencher
            .counter(divan::counter::ItemsCount::new(self.flops))
            .bench_local(|| f(black_box(&self)));
    }

    /// Times `f` on a weight that it owns and may overwrite, as in the last use of a value in a plan. Each call gets the
    /// result of the one before.
    fn chained(mut self, bencher: Bencher, f: impl Fn(FlexTensor, &Self) -> FlexTensor) {
        let mut w = Some(std::mem::replace(&mut self.w, tensor(1, 1)));
        bencher
            .counter(divan::counter::ItemsCount::new(self.flops))
            .bench_local(|| w = w.take().map(|w| f(w, black_box(&self))));
    }
}

/// The product as the executor computes it.
fn product(a: &FlexTensor, b: &FlexTensor) -> FlexTensor {
    matmul(a, b).unwrap_or_else(|| Flex::float_matmul(a.clone(), b.clone()))
}

mod forward {
    use super::*;

    #[divan::bench(args = all())]
    fn ours(bencher: Bencher, layer: Dense) {
        Case::new(layer).bench(bencher, |case| product(&case.x, &case.w));
    }

    #[divan::bench(args = all())]
    fn burn(bencher: Bencher, layer: Dense) {
        Case::new(layer).bench(bencher, |case| {
            Flex::float_matmul(case.x.clone(), case.w.clone())
        });
    }
}

mod input_grad {
    use super::*;

    #[divan::bench(args = all())]
    fn ours(bencher: Bencher, layer: Dense) {
        Case::new(layer).bench(bencher, |case| product(&case.grad, &case.w.transpose(0, 1)));
    }

    #[divan::bench(args = all())]
    fn burn(bencher: Bencher, layer: Dense) {
        Case::new(layer).bench(bencher, |case| {
            Flex::float_matmul(case.grad.clone(), case.w.transpose(0, 1))
        });
    }
}

mod weight_update {
    use super::*;

    #[divan::bench(args = all())]
    fn ours(bencher: Bencher, layer: Dense) {
        Case::new(layer).chained(bencher, |w, case| {
            matmul_update(w, -1e-4, &case.x.transpose(0, 1), &case.grad)
        });
    }

    #[divan::bench(args = all())]
    fn burn(bencher: Bencher, layer: Dense) {
        Case::new(layer).chained(bencher, |w, case| {
            let grad = Flex::float_matmul(case.x.transpose(0, 1), case.grad.clone());
            Flex::float_sub(w, Flex::float_mul_scalar(grad, 1e-4f32.into()))
        });
    }
}

/// The peak of the processor: burn-flex's product of large square matrices, by the crate `gemm`.
mod peak {
    use super::*;

    #[divan::bench(args = [256, 512, 1024])]
    fn burn(bencher: Bencher, size: usize) {
        Case::new(Dense(size, [size, size])).bench(bencher, |case| {
            Flex::float_matmul(case.x.clone(), case.w.clone())
        });
    }
}

/// Dense layers of eight clients at once: `[8, m, k] · [8, k, n]`.
mod batch {
    use super::*;

    const CLIENTS: usize = 8;

    /// The operands of the layers of all clients.
    struct Clients {
        x: FlexTensor,
        w: FlexTensor,
        grad: FlexTensor,
        flops: usize,
    }

    impl Clients {
        fn new(Dense(batch, [inputs, outputs]): Dense) -> Self {
            let all = |rows: usize, columns: usize| {
                tensor(CLIENTS * rows, columns).reshape(vec![CLIENTS, rows, columns].into())
            };
            Self {
                x: all(batch, inputs),
                w: all(inputs, outputs),
                grad: all(batch, outputs),
                flops: 2 * CLIENTS * batch * inputs * outputs,
            }
        }
    }

    macro_rules! products {
        ($($name:ident: $case:ident => $a:expr, $b:expr;)+) => {$(
            mod $name {
                use super::*;

                fn bench(
                    bencher: Bencher,
                    layer: Dense,
                    f: impl Fn(&FlexTensor, &FlexTensor) -> FlexTensor,
                ) {
                    let $case = Clients::new(layer);
                    let (a, b) = ($a, $b);
                    bencher
                        .counter(divan::counter::ItemsCount::new($case.flops))
                        .bench_local(|| f(black_box(&a), &b));
                }

                #[divan::bench(args = some())]
                fn ours(bencher: Bencher, layer: Dense) {
                    bench(bencher, layer, product);
                }

                #[divan::bench(args = some())]
                fn burn(bencher: Bencher, layer: Dense) {
                    bench(bencher, layer, |a, b| Flex::float_matmul(a.clone(), b.clone()));
                }
            }
        )+};
    }

    fn some() -> impl Iterator<Item = Dense> {
        [[784, 200], [200, 10], [120, 84]]
            .into_iter()
            .flat_map(|layer| [10, 64].map(|batch| Dense(batch, layer)))
    }

    products! {
        forward: c => c.x.clone(), c.w.clone();
        input_grad: c => c.grad.clone(), c.w.transpose(1, 2);
        weight_grad: c => c.x.transpose(1, 2), c.grad.clone();
    }
}
