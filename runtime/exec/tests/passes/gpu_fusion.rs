//! Tests that the passes that prepare a graph for burn-fusion do not change its results.

use fedround_ir::Loc;
use fedround_ir::tensor::{Constant, Graph, Op, TensorType, Val, parse};
use fedround_passes::PassManager;
use fedround_passes::autodiff::grad;
use fedround_passes::tensor::{one_hot_with, optimize, order_for_fusion_with};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::passes::fused::{push, same_as};

/// The graph after the passes that run for a GPU.
fn prepared(graph: &Graph) -> Graph {
    let (mut prepared, mut passes) = (graph.clone(), PassManager::new());
    one_hot_with(&mut prepared, "step", &mut passes).unwrap();
    order_for_fusion_with(&mut prepared, "step", &mut passes).unwrap();
    prepared
}

fn ops(graph: &Graph) -> Vec<&'static str> {
    graph.nodes.iter().map(|node| node.op.name()).collect()
}

#[test]
fn a_cross_entropy_has_no_gather_and_no_scatter() {
    let at = Loc::caller();
    let mut graph = Graph::default();
    let x = graph.input("x", TensorType::f32([3, 4]));
    let mut op = |op: Op, ins: &[Val]| graph.push(op, ins, at).unwrap();
    let y = op(
        Op::Constant(Constant {
            ty: TensorType::i32([3, 1]),
            values: [2.0, 0.0, 3.0].into(),
        }),
        &[],
    );
    let log = op(Op::LogSoftmax(1), &[x]);
    let picked = op(Op::Gather(1), &[log, y]);
    let mean = op(Op::Mean, &[picked]);
    let loss = op(Op::Neg, &[mean]);
    let zeros = op(Op::Full(0.0, vec![3, 4]), &[]);
    let third = op(Op::Full(-1.0 / 3.0, vec![3, 1]), &[]);
    let targets = op(Op::ScatterAdd(1), &[zeros, y, third]);
    let softmax = op(Op::Exp, &[log]);
    let gradient = op(Op::Add, &[softmax, targets]);
    graph.outputs.push(("loss".into(), loss));
    graph.outputs.push(("gradient".into(), gradient));
    let after = prepared(&graph);
    same_as(&graph, &after);
    let ops = ops(&after);
    assert!(
        !ops.contains(&"gather") && !ops.contains(&"scatter_add"),
        "{ops:?}"
    );
    // The mean is last: its factor was moved before it.
    assert!(
        !ops.contains(&"neg") || ops.last() == Some(&"mean"),
        "{ops:?}"
    );
}

/// FedProx's step of a dense layer. The distance is that of both parameters, and the gradient of the bias is reshaped.
#[test]
fn a_step_with_a_proximal_term() {
    let at = Loc::caller();
    let mut graph = Graph::default();
    let mut input = |name: &str, shape: &[usize]| graph.input(name, TensorType::f32(shape));
    let (w, w0) = (input("w", &[5, 3]), input("w0", &[5, 3]));
    let (b, b0) = (input("b", &[3]), input("b0", &[3]));
    let (x, lr, mu) = (input("x", &[2, 5]), input("lr", &[1]), input("mu", &[1]));
    let mut op = |op: Op, ins: &[Val]| graph.push(op, ins, at).unwrap();
    let row = op(Op::Reshape(vec![1, 3]), &[b]);
    let product = op(Op::MatMul, &[x, w]);
    let y = op(Op::Add, &[product, row]);
    let g = op(Op::Relu, &[y]);
    let apart = [(w, w0), (b, b0)].map(|(p, p0)| op(Op::Sub, &[p, p0]));
    let norms = apart.map(|d| {
        let square = op(Op::Mul, &[d, d]);
        op(Op::Sum, &[square])
    });
    let distance = op(Op::Add, &norms);
    let transposed = op(Op::Permute(vec![1, 0]), &[x]);
    let dw = op(Op::MatMul, &[transposed, g]);
    let db = op(Op::SumDim(0), &[g]);
    let db = op(Op::Reshape(vec![3]), &[db]);
    graph.outputs.push(("distance".into(), distance));
    for (name, p, d, g, ones) in [("w", w, apart[0], dw, 2), ("b", b, apart[1], db, 1)] {
        let mut op = |op: Op, ins: &[Val]| graph.push(op, ins, at).unwrap();
        let mut scalar = |v| op(Op::Reshape(vec![1; ones]), &[v]);
        let (mu, lr) = (scalar(mu), scalar(lr));
        let pull = op(Op::Mul, &[d, mu]);
        let whole = op(Op::Add, &[pull, g]);
        let step = op(Op::Mul, &[whole, lr]);
        let next = op(Op::Sub, &[p, step]);
        graph.outputs.push((name.into(), next));
    }
    let after = prepared(&graph);
    same_as(&graph, &after);
    let sums = ops(&after).into_iter().filter(|op| *op == "sum").count();
    assert_eq!(sums, 0, "{}", after.text("step"));
}

/// A convolution with batch normalisation, ReLU and a residual, and its gradients.
#[test]
fn a_step_with_batch_normalisation() {
    let text = "// fedround tensor v1
tensor.graph @step(%x: f32[2x3x4x4], %w: f32[3x3x3x3], %gamma: f32[3], %beta: f32[3], %lr: f32[1]) {
  %0 = tensor.conv2d[stride [1, 1], padding [1, 1]] %x, %w : f32[2x3x4x4]
  %1 = tensor.reshape %0 : f32[2x3x16]
  %2 = tensor.mean_dim[dim 2] %1 : f32[2x3x1]
  %3 = tensor.mean_dim[dim 0] %2 : f32[1x3x1]
  %4 = tensor.reshape %3 : f32[1x3x1x1]
  %5 = tensor.sub %0, %4 : f32[2x3x4x4]
  %6 = tensor.mul %5, %5 : f32[2x3x4x4]
  %7 = tensor.reshape %6 : f32[2x3x16]
  %8 = tensor.mean_dim[dim 2] %7 : f32[2x3x1]
  %9 = tensor.mean_dim[dim 0] %8 : f32[1x3x1]
  %10 = tensor.reshape %9 : f32[1x3x1x1]
  %11 = tensor.add_scalar[0.1] %10 : f32[1x3x1x1]
  %12 = tensor.sqrt %11 : f32[1x3x1x1]
  %13 = tensor.reshape %gamma : f32[1x3x1x1]
  %14 = tensor.div %13, %12 : f32[1x3x1x1]
  %15 = tensor.mul %5, %14 : f32[2x3x4x4]
  %16 = tensor.reshape %beta : f32[1x3x1x1]
  %17 = tensor.add %15, %16 : f32[2x3x4x4]
  %18 = tensor.relu %17 : f32[2x3x4x4]
  %19 = tensor.conv2d[stride [1, 1], padding [1, 1]] %18, %w : f32[2x3x4x4]
  %20 = tensor.add %19, %18 : f32[2x3x4x4]
  %21 = tensor.conv2d[stride [1, 1], padding [1, 1]] %20, %w : f32[2x3x4x4]
  %22 = tensor.mul %21, %21 : f32[2x3x4x4]
  %23 = tensor.mean %22 : f32[1]
  return loss = %23
  return mean = %3
}
";
    let (_, mut graph) = parse(text).unwrap().into_iter().next().unwrap();
    let at = Loc::caller();
    let input = |i: usize| graph.inputs[i].1;
    let (loss, parameters) = (graph.outputs[0].1, [1, 2, 3].map(input));
    let lr = input(4);
    let gradients = grad(&mut graph, loss, &parameters, at).unwrap();
    for (i, (p, g)) in parameters.into_iter().zip(gradients).enumerate() {
        let ones = Op::Reshape(vec![1; graph.shape(p).len()]);
        let mut op = |op: Op, ins: &[Val]| graph.push(op, ins, at).unwrap();
        let rate = op(ones, &[lr]);
        let step = op(Op::Mul, &[g, rate]);
        let next = op(Op::Sub, &[p, step]);
        graph.outputs.push((format!("p{i}"), next));
    }
    let graph = optimize(graph).unwrap();
    let after = prepared(&graph);
    same_as(&graph, &after);
    // These are the mean and the variance, and the gradients of the shift and the scale, which give that of the mean.
    let ops = ops(&after);
    let count = |name: &str| ops.iter().filter(|op| **op == name).count();
    let text = after.text("step");
    assert_eq!((count("mean_dim"), count("sum_dim")), (2, 2), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300, failure_persistence: None, rng_seed: RngSeed::Fixed(6), ..Default::default()
    })]

    #[test]
    fn random_graphs(
        ops in prop::collection::vec((0usize..12, 0usize..50, 0usize..50, 0usize..50), 1..20),
        outputs in prop::collection::vec((0usize..50, any::<bool>()), 1..4),
    ) {
        let at = Loc::caller();
        let mut graph = Graph::default();
        let shapes = [[3, 4], [3, 4], [1, 4], [3, 1], [1, 1]];
        let inputs = shapes.iter().enumerate();
        let mut values: Vec<Val> = inputs
            .map(|(i, s)| graph.input(format!("x{i}"), TensorType::f32(*s)))
            .collect();
        for (kind, a, b, c) in ops {
            push(&mut graph, &mut values, kind, (a, b, c));
        }
        for (i, (which, flat)) in outputs.into_iter().enumerate() {
            let mut v = values[values.len() - 1 - which % values.len()];
            if flat {
                let flattened = Op::Reshape(vec![graph.type_of(v).len()]);
                v = graph.push(flattened, &[v], at).unwrap();
                let other = graph.input(format!("flat{i}"), graph.type_of(v).clone());
                v = graph.push(Op::Sub, &[other, v], at).unwrap();
            }
            graph.outputs.push((format!("o{i}"), v));
        }
        same_as(&graph, &prepared(&graph));
    }
}
