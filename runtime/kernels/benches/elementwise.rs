//! Compares fused element-wise programs with burn-flex's separate passes, on one thread:
//! `cargo bench -p fedround-kernels --bench elementwise`.

// A benchmark that cannot start should stop.
#![allow(clippy::expect_used)]

use burn_backend::TensorData;
use burn_backend::ops::{ActivationOps, FloatTensorOps};
use burn_flex::{Flex, FlexTensor};
use divan::{Bencher, black_box};
use fedround_kernels::fused::{Binary, FusedProgram, Step, Unary};
use fedround_kernels::{axpy, relu_backward};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.expect("a pool of one thread").install(divan::main);
}

/// Numbers of elements: of a bias, of two layers of the 2NN, of the 2NN, and of the CNN.
const LENGTHS: [usize; 5] = [200, 40_000, 156_800, 199_210, 1_663_370];

fn tensor(shape: &[usize]) -> FlexTensor {
    let values: Vec<f32> = (0..shape.iter().product())
        .map(|i: usize| ((i * 7919) % 1000) as f32 / 500.0 - 1.0)
        .collect();
    FlexTensor::from_data(TensorData::new(values, shape.to_vec()))
}

fn program(steps: Vec<Step>, outputs: Vec<usize>, sums: Vec<usize>) -> FusedProgram {
    FusedProgram::new(steps, outputs, sums).expect("a program in order")
}

/// Times `f` on a tensor that it owns and may overwrite, as in the last use of a value in a plan. Each call gets the result
/// of the one before.
fn chained(bencher: Bencher, shape: &[usize], f: impl Fn(FlexTensor, &FlexTensor) -> FlexTensor) {
    let x = tensor(shape);
    let mut y = Some(tensor(shape));
    bencher
        .counter(divan::counter::ItemsCount::new(
            shape.iter().product::<usize>(),
        ))
        .bench_local(|| y = y.take().map(|y| f(y, black_box(&x))));
}

/// `w - c (w - w0)` and `|w - w0|²`: FedProx's pull.
mod prox {
    use super::*;

    #[divan::bench(args = LENGTHS)]
    fn ours(bencher: Bencher, len: usize) {
        let program = program(
            vec![
                Step::Operand(0),
                Step::Operand(1),
                Step::Binary(Binary::Sub, 0, 1),
                Step::Constant(1e-6),
                Step::Binary(Binary::Mul, 2, 3),
                Step::Binary(Binary::Sub, 0, 4),
                Step::Binary(Binary::Mul, 2, 2),
            ],
            vec![5],
            vec![6],
        );
        chained(bencher, &[len], |w, w0| {
            let results = program.run(vec![w, w0.clone()], &[len]);
            let mut results = results.expect("operands of one shape");
            black_box(results.sums);
            results.outputs.swap_remove(0)
        });
    }

    #[divan::bench(args = LENGTHS)]
    fn burn(bencher: Bencher, len: usize) {
        chained(bencher, &[len], |w, w0| {
            let d = Flex::float_sub(w.clone(), w0.clone());
            black_box(Flex::float_sum(Flex::float_mul(d.clone(), d.clone())));
            Flex::float_sub(w, Flex::float_mul_scalar(d, 1e-6f32.into()))
        });
    }

    /// Reads two tensors and writes one. Its speed is limited by memory.
    #[divan::bench(args = LENGTHS)]
    fn axpy_alone(bencher: Bencher, len: usize) {
        chained(bencher, &[len], |w, w0| axpy(w, -1e-6, w0));
    }
}

/// Shapes of outputs of dense layers.
const ACTIVATIONS: [[usize; 2]; 4] = [[10, 200], [50, 200], [64, 512], [20, 84]];

/// `max(x + b, 0)`.
mod bias_relu {
    use super::*;

    fn shape(index: usize) -> [usize; 2] {
        ACTIVATIONS[index]
    }

    #[divan::bench(args = [0, 1, 2, 3])]
    fn ours(bencher: Bencher, index: usize) {
        let program = program(
            vec![
                Step::Operand(0),
                Step::Operand(1),
                Step::Binary(Binary::Add, 0, 1),
                Step::Unary(Unary::Relu, 2),
            ],
            vec![3],
            vec![],
        );
        let bias = tensor(&[1, shape(index)[1]]);
        chained(bencher, &shape(index), |x, _| {
            let results = program.run(vec![x, bias.clone()], &shape(index));
            results.expect("operands that fit").outputs.swap_remove(0)
        });
    }

    #[divan::bench(args = [0, 1, 2, 3])]
    fn burn(bencher: Bencher, index: usize) {
        let bias = tensor(&[1, shape(index)[1]]);
        chained(bencher, &shape(index), |x, _| {
            Flex::relu(Flex::float_add(x, bias.clone()))
        });
    }
}

/// Programs of a single function, on 40,000 elements.
mod functions {
    use super::*;

    const LEN: usize = 40_000;

    fn ours(bencher: Bencher, function: Unary) {
        let program = program(
            vec![Step::Operand(0), Step::Unary(function, 0)],
            vec![1],
            vec![],
        );
        let x = tensor(&[LEN]);
        bencher
            .counter(divan::counter::ItemsCount::new(LEN))
            .bench_local(|| program.run(vec![black_box(&x).clone()], &[LEN]));
    }

    fn burn(bencher: Bencher, function: impl Fn(FlexTensor) -> FlexTensor) {
        let x = tensor(&[LEN]);
        bencher
            .counter(divan::counter::ItemsCount::new(LEN))
            .bench_local(|| function(black_box(&x).clone()));
    }

    macro_rules! functions {
        ($($name:ident: $ours:expr, $burns:expr;)+) => {$(
            mod $name {
                use super::*;

                #[divan::bench(name = "ours")]
                fn of_ours(bencher: Bencher) {
                    ours(bencher, $ours);
                }

                #[divan::bench(name = "burn")]
                fn of_burn(bencher: Bencher) {
                    burn(bencher, $burns);
                }
            }
        )+};
    }

    functions! {
        exp: Unary::Exp, Flex::float_exp;
        log: Unary::Log, Flex::float_log;
        log1p: Unary::Log1p, Flex::float_log1p;
        tanh: Unary::Tanh, Flex::float_tanh;
        sigmoid: Unary::Sigmoid, Flex::sigmoid;
        erf: Unary::Erf, Flex::float_erf;
        sqrt: Unary::Sqrt, Flex::float_sqrt;
        powf: Unary::Powf(1.7), |x| Flex::float_powf_scalar(x, 1.7f32.into());
    }
}

mod sgd_update {
    use super::*;

    #[divan::bench(args = LENGTHS)]
    fn ours(bencher: Bencher, len: usize) {
        chained(bencher, &[len], |w, grad| axpy(w, -1e-4, grad));
    }

    #[divan::bench(args = LENGTHS)]
    fn burn(bencher: Bencher, len: usize) {
        chained(bencher, &[len], |w, grad| {
            Flex::float_sub(w, Flex::float_mul_scalar(grad.clone(), 1e-4f32.into()))
        });
    }
}

mod relu_grad {
    use super::*;

    #[divan::bench(args = LENGTHS)]
    fn ours(bencher: Bencher, len: usize) {
        chained(bencher, &[len], |grad, output| relu_backward(output, grad));
    }

    #[divan::bench(args = LENGTHS)]
    fn burn(bencher: Bencher, len: usize) {
        chained(bencher, &[len], |grad, output| {
            Flex::relu_backward(output.clone(), grad)
        });
    }
}

/// The log-softmax of batches of scores, for the classes of MNIST and of CIFAR-100.
mod log_softmax {
    use super::*;
    use fedround_kernels::log_softmax;

    const SHAPES: [&str; 3] = ["10x10", "64x10", "64x100"];

    fn scores(shape: &str) -> FlexTensor {
        let dims: Vec<usize> = shape.split('x').filter_map(|d| d.parse().ok()).collect();
        tensor(&dims)
    }

    #[divan::bench(args = SHAPES)]
    fn ours(bencher: Bencher, shape: &str) {
        let x = scores(shape);
        bencher.bench_local(|| log_softmax(black_box(&x).clone()));
    }

    #[divan::bench(args = SHAPES)]
    fn burn(bencher: Bencher, shape: &str) {
        let x = scores(shape);
        bencher.bench_local(|| Flex::log_softmax(black_box(&x).clone(), 1));
    }
}
