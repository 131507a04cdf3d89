//! Every gradient rule against burn's autodiff and against finite differences.
//!
//! Each case is one function of burn tensors. It is traced, imported and differentiated by the
//! `grad` pass on one side, and run on burn's autodiff device on the other. Finite differences are
//! central, in `f32` with a step of 1e-2 on smooth functions of small values, hence their looser
//! tolerance of 2 %; burn's autodiff does the same arithmetic and agrees to 1e-4.

#![allow(clippy::unwrap_used, reason = "a test stops at its first error")]

use burn::tensor::activation::{log_softmax, relu};
use burn::tensor::module::{avg_pool2d, conv2d, max_pool2d};
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Device, Tensor, TensorData};
use fedround_exec::plan::Plan;
use fedround_exec::run::Slots;
use fedround_exec::trace::trace_function;
use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, Op};
use fedround_passes::tensor::{grad, optimize};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

type F1 = fn(Tensor<4>) -> Tensor<1>;
type F2 = fn(Tensor<4>, Tensor<4>) -> Tensor<1>;

/// A deterministic, uneven weighting, so that no gradient is constant or cancels.
fn weigh<const D: usize>(y: Tensor<D>) -> Tensor<1> {
    let n = y.shape().num_elements();
    let y = y.reshape([n]);
    // Σ y² + y, with the sum of squares taken unevenly through a running slice.
    let half = n.div_ceil(2);
    let head = y.clone().slice(0..half);
    (head.clone() * head).sum() + y.sum().mul_scalar(0.5)
}

/// Evenly spaced values in a random order: no two are so close that a difference swaps a maximum.
fn values(shape: [usize; 4], seed: u32, low: f32, high: f32) -> Vec<f32> {
    let n: usize = shape.iter().product();
    let order = fedround_data::rng::permutation(u64::from(seed), n, &[]);
    let value = |i: usize| low + (high - low) * (i as f32 + 0.5) / n as f32;
    order.into_iter().map(value).collect()
}

struct Case {
    inputs: Vec<([usize; 4], Vec<f32>)>,
}

impl Case {
    /// Gradients by the pass, through the optimised plan on Flex.
    fn ours(&self, f: &dyn Fn(&[Tensor<4>]) -> Tensor<1>) -> (f32, Vec<Vec<f32>>) {
        let graph = self.graph(f);
        let (loss, grads) = self.run(&graph);
        (loss, grads)
    }

    fn graph(&self, f: &dyn Fn(&[Tensor<4>]) -> Tensor<1>) -> Graph {
        let shapes: Vec<[usize; 4]> = self.inputs.iter().map(|(s, _)| *s).collect();
        let mut graph = trace_function("case", &shapes, f).unwrap();
        let wrt: Vec<_> = graph.inputs.iter().map(|(_, v)| *v).collect();
        let loss = graph.outputs[0].1;
        let grads = grad(&mut graph, loss, &wrt, Loc::caller()).unwrap();
        for (i, g) in grads.into_iter().enumerate() {
            graph.outputs.push((format!("d{i}"), g));
        }
        graph.verify().unwrap();
        optimize(graph).unwrap()
    }

    fn run(&self, graph: &Graph) -> (f32, Vec<Vec<f32>>) {
        let device = Device::default();
        let tensor = |(shape, v): &([usize; 4], Vec<f32>)| {
            Tensor::<4>::from_data(TensorData::new(v.clone(), *shape), &device).into_dispatch()
        };
        let inputs = self.inputs.iter().map(tensor);
        let outputs = Plan::new(graph)
            .run(device.as_dispatch(), inputs, &mut Slots::default())
            .unwrap();
        let mut outputs = outputs.into_iter();
        let loss = Tensor::<1>::from_dispatch(outputs.next().unwrap());
        let grads = outputs.map(|t| {
            Tensor::<4>::from_dispatch(t)
                .into_data()
                .try_to_vec()
                .unwrap()
        });
        (loss.into_scalar(), grads.collect())
    }

    fn burns(&self, f: &dyn Fn(&[Tensor<4>]) -> Tensor<1>) -> (f32, Vec<Vec<f32>>) {
        let device = Device::default().autodiff();
        let tensors: Vec<Tensor<4>> = self
            .inputs
            .iter()
            .map(|(s, v)| Tensor::from_data(TensorData::new(v.clone(), *s), &device).require_grad())
            .collect();
        let loss = f(&tensors);
        let value = loss.clone().into_scalar();
        let grads = loss.backward();
        let grad = |t: &Tensor<4>| t.grad(&grads).unwrap().into_data().try_to_vec().unwrap();
        (value, tensors.iter().map(grad).collect())
    }

    /// Central differences of a few elements of each input.
    fn differences(&self, f: &dyn Fn(&[Tensor<4>]) -> Tensor<1>, at: usize, i: usize) -> f32 {
        const STEP: f32 = 1e-2;
        let device = Device::default();
        let value = |shift: f32| -> f32 {
            let tensors: Vec<Tensor<4>> = self
                .inputs
                .iter()
                .enumerate()
                .map(|(k, (shape, v))| {
                    let mut v = v.clone();
                    if k == at {
                        v[i] += shift;
                    }
                    Tensor::from_data(TensorData::new(v, *shape), &device)
                })
                .collect();
            f(&tensors).into_scalar()
        };
        (value(STEP) - value(-STEP)) / (2.0 * STEP)
    }

    fn check(&self, name: &str, f: &dyn Fn(&[Tensor<4>]) -> Tensor<1>) {
        let (loss, ours) = self.ours(f);
        let (expected, burns) = self.burns(f);
        assert!(
            (loss - expected).abs() <= 1e-4 * (1.0 + expected.abs()),
            "{name}: {loss} {expected}"
        );
        for (k, (a, b)) in ours.iter().zip(&burns).enumerate() {
            let scale = b.iter().fold(1e-3f32, |m, x| m.max(x.abs()));
            for (i, (x, y)) in a.iter().zip(b).enumerate() {
                let close = (x - y).abs() <= 1e-4 * scale;
                assert!(close, "{name}: operand {k}[{i}]: {x}, burn has {y}");
            }
            for i in [0, a.len() / 2, a.len() - 1] {
                let d = self.differences(f, k, i);
                let close = (a[i] - d).abs() <= 2e-2 * scale + 2e-3;
                assert!(
                    close,
                    "{name}: operand {k}[{i}]: {}, differences give {d}",
                    a[i]
                );
            }
        }
    }
}

/// Functions of one tensor and the range of its values; each names the rule that it exercises.
const UNARY: [(&str, F1, f32, f32); 22] = [
    ("add_scalar", |x| weigh(x.add_scalar(0.7)), -1.0, 1.0),
    ("mul_scalar", |x| weigh(x.mul_scalar(-1.3)), -1.0, 1.0),
    ("div_scalar", |x| weigh(x.div_scalar(1.7)), -1.0, 1.0),
    ("neg", |x| weigh(x.neg()), -1.0, 1.0),
    ("exp", |x| weigh(x.exp()), -1.0, 1.0),
    ("log", |x| weigh(x.log()), 0.5, 2.0),
    ("sqrt", |x| weigh(x.sqrt()), 0.5, 2.0),
    // Away from the kink, where differences mean nothing.
    ("relu+", |x| weigh(relu(x)), 0.1, 1.0),
    (
        "relu-",
        |x| weigh(relu(x.clone().sub_scalar(2.0)) + x),
        0.1,
        1.0,
    ),
    ("permute", |x| weigh(x.permute([2, 0, 3, 1])), -1.0, 1.0),
    ("transpose", |x| weigh(x.swap_dims(1, 3)), -1.0, 1.0),
    ("flatten", |x| weigh(x.flatten::<2>(1, 3).exp()), -1.0, 1.0),
    ("slice", |x| weigh(x.slice([0..1, 0..2]).exp()), -1.0, 1.0),
    ("sum_dim", |x| weigh(x.exp().sum_dim(2)), -1.0, 1.0),
    ("mean", |x| x.exp().mean(), -1.0, 1.0),
    ("mean_dim", |x| weigh(x.exp().mean_dim(1)), -1.0, 1.0),
    ("max_dim", |x| weigh(x.max_dim(3)), -10.0, 10.0),
    ("max", |x| weigh(x.clone().max() + x.sum()), -10.0, 10.0),
    ("log_softmax", |x| weigh(log_softmax(x, 1)), -1.0, 1.0),
    (
        "max_pool2d",
        |x| weigh(max_pool2d(x, [2, 2], [2, 2], [0, 0], [1, 1], false)),
        -10.0,
        10.0,
    ),
    (
        "avg_pool2d",
        |x| weigh(avg_pool2d(x, [2, 2], [1, 1], [1, 1], false, false)),
        -1.0,
        1.0,
    ),
    (
        "expand",
        |x| weigh(x.exp().sum_dim(0).expand([3, -1, -1, -1]).exp()),
        -1.0,
        0.0,
    ),
];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 12, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..Default::default()
    })]

    #[test]
    fn functions_of_one_tensor(
        n in 1usize..4, c in 2usize..4, h in 2usize..6, w in 2usize..6, seed in 0u32..1000,
    ) {
        for (name, f, low, high) in UNARY {
            let shape = [n, c, h, w];
            let case = Case { inputs: vec![(shape, values(shape, seed, low, high))] };
            case.check(name, &|x| f(x[0].clone()));
        }
    }

    #[test]
    fn arithmetic_broadcasts(
        dims in prop::array::uniform4(1usize..4), ones in prop::array::uniform4(any::<bool>()), seed in 0u32..1000,
    ) {
        let functions: [(&str, F2); 4] = [
            ("add", |a, b| weigh(a + b)),
            ("sub", |a, b| weigh(a - b)),
            ("mul", |a, b| weigh(a * b)),
            ("div", |a, b| weigh(a / b)),
        ];
        let mut narrow = dims;
        for (d, one) in narrow.iter_mut().zip(ones) {
            if one { *d = 1; }
        }
        let case = Case { inputs: vec![
            (dims, values(dims, seed, 0.5, 1.5)),
            (narrow, values(narrow, seed + 1, 0.5, 1.5)),
        ]};
        for (name, f) in functions {
            case.check(name, &|x| f(x[0].clone(), x[1].clone()));
        }
    }

    #[test]
    fn matrix_products(
        batch in 1usize..3, shared in any::<bool>(), m in 1usize..5, k in 1usize..5, n in 1usize..5, seed in 0u32..1000,
    ) {
        let a = [batch, 2, m, k];
        let b = [if shared { 1 } else { batch }, 2, k, n];
        let case = Case { inputs: vec![(a, values(a, seed, -1.0, 1.0)), (b, values(b, seed + 1, -1.0, 1.0))] };
        case.check("matmul", &|x| weigh(x[0].clone().matmul(x[1].clone())));
    }

    #[test]
    fn convolutions(
        n in 1usize..3, c in 1usize..3, o in 1usize..4, side in 4usize..8, kernel in 1usize..4,
        stride in 1usize..3, padding in 0usize..2, dilation in 1usize..3, seed in 0u32..1000,
    ) {
        prop_assume!(side + 2 * padding > dilation * (kernel - 1));
        let (x, w, b) = ([n, c, side, side], [o, c, kernel, kernel], [1, 1, 1, o]);
        let case = Case { inputs: vec![
            (x, values(x, seed, -1.0, 1.0)), (w, values(w, seed + 1, -0.5, 0.5)), (b, values(b, seed + 2, -0.5, 0.5)),
        ]};
        case.check("conv2d", &|t| {
            let bias = t[2].clone().reshape([o]);
            let options = ConvOptions::new([stride; 2], [padding; 2], [dilation; 2], 1);
            weigh(conv2d(t[0].clone(), t[1].clone(), Some(bias), options))
        });
    }

    #[test]
    fn joins(n in 1usize..4, m in 1usize..4, seed in 0u32..1000) {
        let (a, b) = ([2, n, 2, 2], [2, m, 2, 2]);
        let case = Case { inputs: vec![(a, values(a, seed, -1.0, 1.0)), (b, values(b, seed + 1, -1.0, 1.0))] };
        case.check("cat", &|x| weigh(Tensor::cat(vec![x[0].clone(), x[1].clone()], 1).exp()));
    }

    #[test]
    fn gathers(n in 1usize..8, classes in 2usize..6, seed in 0u32..1000) {
        let x = [n, classes, 1, 1];
        let case = Case { inputs: vec![(x, values(x, seed, -2.0, 2.0))] };
        case.check("gather", &|t| {
            let z: Tensor<2> = t[0].clone().reshape([n, classes]);
            let (_, best) = z.clone().max_dim_with_indices(1);
            log_softmax(z, 1).gather(1, best).mean().neg()
        });
    }
}

/// A function whose derivative is taken twice: the pass differentiates what it appended.
#[test]
fn gradients_of_gradients() {
    let shape = [1, 2, 2, 3];
    let case = Case {
        inputs: vec![(shape, values(shape, 5, 0.5, 1.5))],
    };
    let shapes = [shape];
    let f = |x: &[Tensor<4>]| (x[0].clone() * x[0].clone() * x[0].clone()).sum();
    let mut graph = trace_function("case", &shapes, &f).unwrap();
    let (x, loss) = (graph.inputs[0].1, graph.outputs[0].1);
    let first = grad(&mut graph, loss, &[x], Loc::caller()).unwrap()[0];
    let total = graph.push(Op::Sum, &[first], Loc::caller()).unwrap();
    let second = grad(&mut graph, total, &[x], Loc::caller()).unwrap()[0];
    graph.outputs.push(("d2".into(), second));
    let (_, grads) = case.run(&optimize(graph).unwrap());
    for (g, x) in grads[0].iter().zip(&case.inputs[0].1) {
        assert!(
            (g - 6.0 * x).abs() < 1e-4,
            "second derivative of x³ is 6x: {g} at {x}"
        );
    }
}

#[test]
fn an_op_without_a_rule_is_an_error() {
    let shape = [1, 1, 4, 4];
    let f = |x: &[Tensor<4>]| {
        weigh(max_pool2d(
            x[0].clone(),
            [2, 2],
            [2, 2],
            [0, 0],
            [1, 1],
            false,
        ))
    };
    let mut graph = trace_function("case", &[shape], &f).unwrap();
    let (x, loss) = (graph.inputs[0].1, graph.outputs[0].1);
    let first = grad(&mut graph, loss, &[x], Loc::caller()).unwrap()[0];
    let total = graph.push(Op::Sum, &[first], Loc::caller()).unwrap();
    let error = grad(&mut graph, total, &[x], Loc::caller())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`tensor.max_pool2d_grad` has no gradient rule"),
        "{error}"
    );
}

#[test]
fn what_the_dialect_lacks_is_named() {
    let f = |x: &[Tensor<4>]| x[0].clone().cos().sum();
    let error = trace_function("loss `wave`", &[[1, 1, 1, 1]], &f)
        .unwrap_err()
        .to_string();
    assert!(error.contains("loss `wave` uses burn's `Cos`"), "{error}");
}

#[test]
fn a_panic_while_tracing_is_an_error() {
    let f = |x: &[Tensor<4>]| x[0].clone().reshape([3]).sum();
    let error = trace_function("model `odd`", &[[1, 1, 2, 2]], &f)
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("model `odd` cannot be traced"), "{error}");
}
