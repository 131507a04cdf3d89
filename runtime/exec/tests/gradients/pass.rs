//! The contract of the autodiff pass: the values that it differentiates, and its errors.

use burn::tensor::module::conv_transpose2d;
use burn::tensor::ops::ConvTransposeOptions;
use burn::tensor::{Distribution, Tensor};
use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, Op};
use fedround_models::stop_gradient;
use fedround_passes::autodiff::grad;
use fedround_passes::tensor::optimize;
use fedround_trace::trace_function;

use crate::gradients::case::Case;

const SHAPE: [usize; 4] = [1, 2, 2, 3];

fn case() -> Case {
    Case::new("case", 5)
        .input(SHAPE, 0.5, 1.5)
        .input(SHAPE, 0.6, 1.7)
}

/// The graph of `f` with the gradients of all inputs as its further outputs.
fn with_gradients(f: crate::gradients::case::Function<'_>) -> Graph {
    let mut graph = case().trace(f);
    let wrt: Vec<_> = graph.inputs.iter().map(|(_, v)| *v).collect();
    let loss = graph.outputs[0].1;
    let grads = grad(&mut graph, loss, &wrt, Loc::caller()).unwrap();
    for (i, g) in grads.into_iter().enumerate() {
        graph.outputs.push((format!("d{i}"), g));
    }
    graph.verify().unwrap();
    graph
}

#[test]
fn gradients_stop_where_they_are_told_to() {
    let f = |x: &[Tensor<4>]| (x[0].clone() * stop_gradient(x[0].clone() * x[1].clone())).sum();
    case().check_first_order(&f);
    let graph = with_gradients(&f);
    let outputs = case().run(&optimize(graph).unwrap());
    // d/dx of x · [x y] is [x y] = x y, and y gets none.
    let product: Vec<f64> = case()
        .run(&optimize(case().trace(&|x| (x[0].clone() * x[1].clone()).sum())).unwrap())[0]
        .clone();
    assert!((outputs[1].iter().sum::<f64>() - product[0]).abs() < 1e-4);
    assert!(outputs[2].iter().all(|&g| g == 0.0));
}

#[test]
fn a_stopped_gradient_is_one_node_and_then_none() {
    let graph = case().trace(&|x| stop_gradient(x[0].clone() + x[1].clone()).sum());
    let names: Vec<&str> = graph.nodes.iter().map(|n| n.op.name()).collect();
    assert_eq!(names, ["add", "stop_gradient", "sum"]);
    let graph = optimize(graph).unwrap();
    let names: Vec<&str> = graph.nodes.iter().map(|n| n.op.name()).collect();
    assert_eq!(names, ["add", "sum"]);
}

/// burn's capture device does not record `detach`, which is why `stop_gradient` exists.
#[test]
fn a_bare_detach_is_not_seen() {
    let graph = case().trace(&|x| (x[0].clone().detach() * x[1].clone()).sum());
    assert!(graph.nodes.iter().all(|n| n.op != Op::StopGradient));
}

/// Gradients with respect to one input leave no trace of those with respect to others.
#[test]
fn only_what_is_asked_for_is_computed() {
    let f = |x: &[Tensor<4>]| (x[0].clone().exp() * x[1].clone().sin()).sum();
    let mut graph = case().trace(&f);
    let (x, loss) = (graph.inputs[0].1, graph.outputs[0].1);
    let dx = grad(&mut graph, loss, &[x], Loc::caller()).unwrap()[0];
    graph.outputs.push(("dx".into(), dx));
    let graph = optimize(graph).unwrap();
    assert!(
        graph.nodes.iter().all(|n| n.op != Op::Cos),
        "{}",
        graph.text("f")
    );
}

/// A value inside the function can be differentiated with respect to as well.
#[test]
fn with_respect_to_a_computed_value() {
    let mut graph = case().trace(&|x| (x[0].clone() * x[1].clone()).exp().sum());
    let product = graph.nodes[0].outs[0];
    let loss = graph.outputs[0].1;
    let dp = grad(&mut graph, loss, &[product], Loc::caller()).unwrap()[0];
    graph.outputs.push(("dp".into(), dp));
    let graph = optimize(graph).unwrap();
    let outputs = case().run(&graph);
    assert!(
        (outputs[1].iter().sum::<f64>() - outputs[0][0]).abs() < 1e-3,
        "d/dp Σ eᵖ is eᵖ"
    );
}

/// Two losses share one forward pass. Each has its own gradient, and the forward pass is computed once.
#[test]
fn two_losses_share_their_forward() {
    let features = |x: &[Tensor<4>]| (x[0].clone() * x[1].clone()).tanh();
    let (f, g) = (
        move |x: &[Tensor<4>]| features(x).exp().sum(),
        move |x: &[Tensor<4>]| (features(x) * features(x)).sum(),
    );
    let (alone, other) = (with_gradients(&f), with_gradients(&g));
    let mut both = Graph::default();
    let args: Vec<_> = alone
        .inputs
        .iter()
        .map(|(n, v)| both.input(n.clone(), alone.type_of(*v).clone()))
        .collect();
    for graph in [&alone, &other] {
        let outs = both.inline(graph, &args, Loc::caller()).unwrap();
        both.outputs
            .extend(outs.into_iter().map(|v| (format!("o{}", v.0), v)));
    }
    let both = optimize(both).unwrap();
    let tanhs = both.nodes.iter().filter(|n| n.op == Op::Tanh).count();
    assert_eq!(tanhs, 1, "{}", both.text("both"));
    let [alone, other] = [alone, other].map(|g| case().run(&optimize(g).unwrap()));
    assert_eq!(case().run(&both), [alone.clone(), other.clone()].concat());
    // And the gradient of the sum is the sum of the gradients.
    let sum = case().run(&optimize(with_gradients(&|x| f(x) + g(x))).unwrap());
    for ((s, a), b) in sum[1].iter().zip(&alone[1]).zip(&other[1]) {
        assert!((s - (a + b)).abs() < 1e-4, "{s} is not {a} + {b}");
    }
}

/// The mask of a dropout is drawn once, for the forward and the backward pass.
#[test]
fn random_draws_are_shared_with_the_gradient() {
    let drop = |x: &Tensor<4>| {
        let mask = Tensor::<4>::random(x.dims(), Distribution::Bernoulli(0.5), &x.device());
        (x.clone() * mask).exp()
    };
    let graph = optimize(with_gradients(&|x| (drop(&x[0]) * drop(&x[1])).sum())).unwrap();
    let draws = graph
        .nodes
        .iter()
        .filter(|n| n.op.name() == "random")
        .count();
    assert_eq!(draws, 2, "{}", graph.text("dropout"));
}

/// Taking another derivative of the same loss does not change the first one.
#[test]
fn gradients_of_gradients() {
    let mut graph = case().trace(&|x| (x[0].clone() * x[0].clone() * x[0].clone()).sum());
    let (x, mut loss) = (graph.inputs[0].1, graph.outputs[0].1);
    for name in ["d1", "d2", "d3"] {
        let d = grad(&mut graph, loss, &[x], Loc::caller()).unwrap()[0];
        graph.outputs.push((name.into(), d));
        loss = graph.push(Op::Sum, &[d], Loc::caller()).unwrap();
    }
    let outputs = case().run(&optimize(graph).unwrap());
    for (d1, d2) in outputs[1].iter().zip(&outputs[2]) {
        assert!(
            (d1 - d2 * d2 / 12.0).abs() < 1e-4,
            "3x² and 6x, found {d1} and {d2}"
        );
    }
    assert!(outputs[3].iter().all(|d| (d - 6.0).abs() < 1e-5));
}

#[test]
fn what_the_loss_does_not_reach_has_zeros() {
    let graph = with_gradients(&|x| x[0].clone().sum());
    let outputs = case().run(&optimize(graph).unwrap());
    assert!(outputs[2].iter().all(|&g| g == 0.0));
}

#[test]
fn only_a_scalar_can_be_differentiated() {
    let mut graph = case().trace(&|x| x[0].clone().exp().sum());
    let (x, exp) = (graph.inputs[0].1, graph.nodes[0].outs[0]);
    let error = grad(&mut graph, exp, &[x], Loc::caller())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("only a scalar can be differentiated, found a tensor of shape [1, 2, 2, 3]"),
        "{error}"
    );
}

#[test]
fn what_the_dialect_lacks_is_named() {
    let f = |x: &[Tensor<4>]| x[0].clone().atan().sum();
    let error = trace_function("loss `wave`", &[[1, 1, 1, 1]], &f)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("loss `wave` uses burn's `ArcTan`"),
        "{error}"
    );
    let f = |x: &[Tensor<4>]| x[0].clone().slice(burn::tensor::s![.., .., .., ..;2]).sum();
    let error = trace_function("loss `comb`", &[[1, 1, 1, 4]], &f)
        .unwrap_err()
        .to_string();
    assert!(error.contains("loss `comb` uses burn's `Slice`"), "{error}");
}

#[test]
fn a_transposed_convolution_of_more_rows_than_its_stride_is_unknown() {
    let f = |x: &[Tensor<4>]| {
        let options = ConvTransposeOptions::new([1, 1], [0, 0], [1, 1], [2, 2], 1);
        conv_transpose2d(x[0].clone(), x[1].clone(), None, options).sum()
    };
    let shapes = [[1, 1, 2, 2], [1, 1, 2, 2]];
    let error = trace_function("model `odd`", &shapes, &f)
        .unwrap_err()
        .to_string();
    assert!(error.contains("`ConvTranspose2d`"), "{error}");
}

#[test]
fn a_panic_while_tracing_is_an_error() {
    let f = |x: &[Tensor<4>]| x[0].clone().reshape([3]).sum();
    let error = trace_function("model `odd`", &[[1, 1, 2, 2]], &f)
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("model `odd` cannot be traced"), "{error}");
}
