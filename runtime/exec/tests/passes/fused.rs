//! Tests that a fused op computes the same as its ops one by one.

use fedround_exec::executor::Plan;
use fedround_ir::Loc;
use fedround_ir::tensor::{Cmp, DType, Graph, Op, TensorType, Val};
use fedround_passes::tensor::{fuse, fuse_elementwise, lift_expands};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::passes::{inputs, run};

fn same(graph: &Graph) {
    same_as(graph, &fuse_elementwise(graph).unwrap());
}

/// Asserts that both graphs give the same values.
pub fn same_as(graph: &Graph, fused: &Graph) {
    fused.verify().unwrap();
    // The values are all different.
    let given = inputs(graph, |k, i| 0.3 + ((i * 7 + k * 3) % 11) as f32 / 11.0);
    let outputs = run(graph, &given).into_iter().zip(run(fused, &given));
    for (k, (a, b)) in outputs.enumerate() {
        for (i, (x, y)) in a.iter().zip(&b).enumerate() {
            let close = (x - y).abs() <= 1e-5 * (1.0 + x.abs());
            assert!(
                close,
                "output {k}[{i}]: {x} and {y} in\n{}\n{}",
                graph.text("apart"),
                fused.text("fused")
            );
        }
    }
}

/// Appends a random op on existing values.
pub fn push(graph: &mut Graph, values: &mut Vec<Val>, kind: usize, picks: (usize, usize, usize)) {
    let at = Loc::caller();
    let full: Vec<Val> = values
        .iter()
        .copied()
        .filter(|v| graph.shape(*v) == [3, 4])
        .collect();
    let any = |i: usize| values[i % values.len()];
    let (a, b, c) = (
        full[picks.0 % full.len()],
        any(picks.1),
        full[picks.2 % full.len()],
    );
    let one = |graph: &mut Graph, op: Op, ins: &[Val]| graph.push(op, ins, at).unwrap();
    let value = match kind {
        0 => one(graph, Op::Add, &[a, b]),
        1 => one(graph, Op::Sub, &[b, a]),
        2 => one(graph, Op::Mul, &[a, b]),
        3 => one(graph, Op::Tanh, &[a]),
        4 => one(graph, Op::Relu, &[a]),
        5 => one(graph, Op::ReluGrad, &[a, c]),
        6 => {
            let mask = one(graph, Op::CompareScalar(Cmp::Greater, 0.6), &[a]);
            one(graph, Op::Where, &[mask, b, c])
        }
        7 => one(graph, Op::AddScalar(-0.5), &[a]),
        8 => one(graph, Op::SumDim(0), &[a]),
        9 => one(graph, Op::SumDim(1), &[a]),
        10 => {
            let dot = one(graph, Op::Dot, &[a, c]);
            one(graph, Op::Reshape(vec![1, 1]), &[dot])
        }
        _ => {
            let sum = one(graph, Op::Sum, &[c]);
            let scaled = one(graph, Op::MulScalar(0.01), &[sum]);
            one(graph, Op::Axpy(-0.3), &[a, scaled, c])
        }
    };
    values.push(value);
}

/// FedProx's update of a dense layer: `w − c (w − w₀) − lr · xᵀ g`, and `|w − w₀|²`.
#[test]
fn a_product_joins_the_pass_that_it_is_added_to() {
    let at = Loc::caller();
    let mut graph = Graph::default();
    let mut input = |name: &str, shape: [usize; 2]| graph.input(name, TensorType::f32(shape));
    let (w, w0) = (input("w", [300, 7]), input("w0", [300, 7]));
    let (x, g) = (input("x", [300, 4]), input("g", [4, 7]));
    let lr = graph.input("lr", TensorType::f32([1]));
    let c = graph.input("c", TensorType::f32([1]));
    let mut op = |op: Op, ins: &[Val]| graph.push(op, ins, at).unwrap();
    let d = op(Op::Sub, &[w, w0]);
    let norm = op(Op::Dot, &[d, d]);
    let pulled = op(Op::Axpy(-1.0), &[w, c, d]);
    let next = op(Op::MatMulAdd(-1.0), &[pulled, lr, x, g]);
    graph.outputs.push(("next".into(), next));
    graph.outputs.push(("norm".into(), norm));
    same(&graph);
    let text = Plan::new(&fuse_elementwise(&graph).unwrap()).text("step");
    assert!(text.contains("= fused+matmul_add s"), "{text}");
    // Another op reads the result of the program, so the product is not merged into it.
    graph.outputs.push(("pulled".into(), pulled));
    same(&graph);
    let text = Plan::new(&fuse_elementwise(&graph).unwrap()).text("step");
    assert!(!text.contains("fused+matmul_add"), "{text}");
}

/// SCAFFOLD's update of a dense layer, `w − lr (xᵀ g + d)`, goes through the weight once.
#[test]
fn a_corrected_step_of_a_dense_layer_is_one_pass() {
    let at = Loc::caller();
    let mut graph = Graph::default();
    let mut input = |name: &str, shape: [usize; 2]| graph.input(name, TensorType::f32(shape));
    let (w, d) = (input("w", [300, 7]), input("d", [300, 7]));
    let (x, g) = (input("x", [300, 4]), input("g", [4, 7]));
    let lr = graph.input("lr", TensorType::f32([1]));
    let mut op = |op: Op, ins: &[Val]| graph.push(op, ins, at).unwrap();
    let lr = op(Op::Reshape(vec![1, 1]), &[lr]);
    let product = op(Op::MatMul, &[x, g]);
    let grad = op(Op::Add, &[product, d]);
    let step = op(Op::Mul, &[grad, lr]);
    let next = op(Op::Sub, &[w, step]);
    graph.outputs.push(("next".into(), next));
    let fused = fuse_elementwise(&fuse(&graph).unwrap()).unwrap();
    same_as(&graph, &fused);
    let text = Plan::new(&fused).text("step");
    assert!(text.contains("= axpy+matmul_add s"), "{text}");
}

/// The gradient of a batch norm. Sums over images in the same pass, and means that are not repeated in memory, give the same
/// results as the ops one by one, bit for bit.
#[test]
fn sums_of_channels_and_repeated_means_keep_their_bits() {
    let at = Loc::caller();
    let shape = vec![9usize, 5, 20, 24];
    let mut graph = Graph::default();
    let mut input = |name: &str, shape: &[usize]| graph.input(name, TensorType::f32(shape));
    let (y, g, x) = (input("y", &shape), input("g", &shape), input("x", &shape));
    let scale = input("scale", &[1, 5, 1, 1]);
    let mut op = |op: Op, ins: &[Val]| graph.push(op, ins, at).unwrap();
    let g = op(Op::ReluGrad, &[y, g]);
    let scaled = op(Op::Mul, &[g, scale]);
    let product = op(Op::Mul, &[g, x]);
    let beta = op(Op::SumDim(0), &[g]);
    let gamma = op(Op::SumDim(0), &[product]);
    let mean = op(Op::SumDim(2), &[beta]);
    let mean = op(Op::SumDim(3), &[mean]);
    let mean = op(Op::Reshape(vec![1, 5, 1]), &[mean]);
    let mean = op(Op::Expand(vec![9, 5, 1]), &[mean]);
    let mean = op(Op::MulScalar(1.0 / 480.0), &[mean]);
    let mean = op(Op::Expand(vec![9, 5, 480]), &[mean]);
    let mean = op(Op::Reshape(shape.clone()), &[mean]);
    let centred = op(Op::Sub, &[scaled, mean]);
    graph.outputs.push(("gamma".into(), gamma));
    graph.outputs.push(("centred".into(), centred));
    let fused = fuse_elementwise(&lift_expands(&graph).unwrap()).unwrap();
    let given = inputs(&graph, |k, i| ((i * 7 + k * 3) % 101) as f32 / 37.0 - 1.3);
    let bits = |graph: &Graph| -> Vec<Vec<u32>> {
        let outputs = run(graph, &given);
        let bits = |t: &Vec<f32>| t.iter().map(|v| v.to_bits()).collect();
        outputs.iter().map(bits).collect()
    };
    assert!(bits(&graph) == bits(&fused), "{}", fused.text("fused"));
    let ops: Vec<&str> = fused.nodes.iter().map(|n| n.op.name()).collect();
    let passes = ops.iter().filter(|op| **op == "fused").count();
    assert_eq!((passes, ops.contains(&"expand")), (2, false), "{ops:?}");
}

/// The bits of a graph's outputs for inputs that are not finite, zeros of both signs, and numbers near zero.
fn odd_bits(graph: &Graph) -> Vec<Vec<u32>> {
    let odd = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        0.0,
        -0.0,
        1e-40,
        -1e-40,
        2.5,
    ];
    let given = inputs(graph, |k, i| odd[(i + i / 8 * k + k) % 8]);
    // IEEE arithmetic does not define the bits of a NaN.
    let bits = |v: &f32| if v.is_nan() { u32::MAX } else { v.to_bits() };
    let outputs = run(graph, &given);
    let outputs = outputs.iter().map(|t| t.iter().map(bits).collect());
    outputs.collect()
}

/// A ReLU keeps a NaN, and passes the gradient on there, fused or not.
#[test]
fn relu_keeps_what_is_not_a_number() {
    let at = Loc::caller();
    let mut graph = Graph::default();
    let mut input = |name: &str| graph.input(name, TensorType::f32([8, 8]));
    let (x, g) = (input("x"), input("g"));
    let mut op = |op: Op, ins: &[Val]| graph.push(op, ins, at).unwrap();
    let x = op(Op::AddScalar(0.0), &[x]);
    let y = op(Op::Relu, &[x]);
    let gradient = op(Op::ReluGrad, &[y, g]);
    graph.outputs.push(("y".into(), y));
    graph.outputs.push(("gradient".into(), gradient));
    let fused = fuse_elementwise(&graph).unwrap();
    assert_eq!(fused.nodes.len(), 1, "{}", fused.text("fused"));
    let results = odd_bits(&fused);
    assert_eq!(odd_bits(&graph), results);
    // Input `x` begins with a NaN, and input `g` with an infinity.
    assert_eq!(results[0][0], u32::MAX);
    assert_eq!(results[1][0], f32::INFINITY.to_bits());
}

/// A leaky ReLU before a layer, and its gradient. For infinite values, NaNs, zeros of both signs and negative slopes, the
/// results are those of the ops one by one, bit for bit.
#[test]
fn leaky_activations_keep_their_bits() {
    let at = Loc::caller();
    for slope in [0.01, 0.0, -0.0, -0.3] {
        let mut graph = Graph::default();
        let mut input = |name: &str, shape: [usize; 2]| graph.input(name, TensorType::f32(shape));
        let (x, w, g) = (input("x", [8, 5]), input("w", [5, 5]), input("g", [8, 5]));
        let mut op = |op: Op, ins: &[Val]| graph.push(op, ins, at).unwrap();
        let x = op(Op::AddScalar(0.0), &[x]);
        let below = op(Op::MulScalar(slope), &[x]);
        let mask = op(Op::CompareScalar(Cmp::Greater, 0.0), &[x]);
        let y = op(Op::Where, &[mask, x, below]);
        let layer = op(Op::MatMul, &[y, w]);
        // This gradient depends on the layer, so it is not in the same fused op.
        let pad = op(Op::SumDim(0), &[layer]);
        let none = op(Op::CompareScalar(Cmp::Less, 0.0), &[pad]);
        let none = op(Op::Cast(DType::F32), &[none]);
        let g = op(Op::Add, &[g, none]);
        let zero = op(Op::Full(0.0, vec![1, 1]), &[]);
        let above = op(Op::Where, &[mask, g, zero]);
        let under = op(Op::Where, &[mask, zero, g]);
        let under = op(Op::MulScalar(slope), &[under]);
        let sum = op(Op::Add, &[above, under]);
        graph.outputs.push(("y".into(), y));
        graph.outputs.push(("sum".into(), sum));
        let fused = fuse_elementwise(&graph).unwrap();
        let passes = fused.nodes.iter().filter(|n| n.op.name() == "fused");
        // These are the activation, the mask of the layer's columns, and the gradient.
        assert_eq!(passes.count(), 3, "{}", fused.text("fused"));
        assert_eq!(odd_bits(&graph), odd_bits(&fused), "slope {slope}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300, failure_persistence: None, rng_seed: RngSeed::Fixed(5), ..Default::default()
    })]

    #[test]
    fn random_graphs(
        ops in prop::collection::vec((0usize..12, 0usize..50, 0usize..50, 0usize..50), 1..14),
        outputs in prop::collection::vec(0usize..50, 1..4),
    ) {
        let mut graph = Graph::default();
        let shapes = [[3, 4], [3, 4], [1, 4], [3, 1], [1, 1]];
        let inputs = shapes.iter().enumerate();
        let mut values: Vec<Val> = inputs
            .map(|(i, s)| graph.input(format!("x{i}"), TensorType::f32(*s)))
            .collect();
        for (kind, a, b, c) in ops {
            push(&mut graph, &mut values, kind, (a, b, c));
        }
        for (i, at) in outputs.into_iter().enumerate() {
            let v = values[values.len() - 1 - at % values.len()];
            graph.outputs.push((format!("o{i}"), v));
        }
        same(&graph);
    }
}

/// A product cannot be added to a program whose first result is a sum.
#[test]
fn a_product_is_not_joined_to_a_program_of_sums() {
    for (rows, columns) in [(200, 100), (1, 1 << 14)] {
        let at = Loc::caller();
        let mut graph = Graph::default();
        let mut input = |name: &str, shape: &[usize]| graph.input(name, TensorType::f32(shape));
        let (x, g) = (input("x", &[rows, columns]), input("g", &[rows, columns]));
        let (a, b) = (input("a", &[1, 4]), input("b", &[4, columns]));
        let lr = input("lr", &[1]);
        let mut op = |op: Op, ins: &[Val]| graph.push(op, ins, at).unwrap();
        let p = op(Op::Mul, &[x, g]);
        let y = op(Op::SumDim(0), &[p]);
        let product = op(Op::MatMul, &[a, b]);
        let lr = op(Op::Reshape(vec![1, 1]), &[lr]);
        let step = op(Op::Mul, &[product, lr]);
        let next = op(Op::Sub, &[y, step]);
        graph.outputs.push(("next".into(), next));
        same_as(&graph, &fuse_elementwise(&fuse(&graph).unwrap()).unwrap());
    }
}

/// An `axpy` is one of floats.
#[test]
fn sums_of_products_of_integers_stay() {
    let at = Loc::caller();
    let mut graph = Graph::default();
    let inputs = [("column", 5), ("row", 5), ("stride", 1)];
    let [column, row, stride] = inputs.map(|(name, n)| graph.input(name, TensorType::i32([n])));
    let start = graph.push(Op::Mul, &[row, stride], at).unwrap();
    let place = graph.push(Op::Add, &[column, start], at).unwrap();
    graph.outputs.push(("place".into(), place));
    assert_eq!(fuse(&graph).unwrap().text("fused"), graph.text("fused"));
}

/// A clamp is `min(max(x, low), high)`, also if `low > high`. The sign of a NaN is 0.
#[test]
fn clamps_and_signs_are_the_same_apart_and_fused() {
    for (op, first) in [(Op::Clamp(1.0, 0.0), 0.7), (Op::Sign, f32::NAN)] {
        let at = Loc::caller();
        let mut graph = Graph::default();
        let x = graph.input("x", TensorType::f32([4]));
        let y = graph.push(op, &[x], at).unwrap();
        let y = graph.push(Op::AddScalar(0.5), &[y], at).unwrap();
        graph.outputs.push(("y".into(), y));
        let fused = fuse_elementwise(&graph).unwrap();
        let given = [vec![first, -2.0, 0.0, 3.0]];
        assert_eq!(run(&graph, &given), run(&fused, &given));
    }
}
