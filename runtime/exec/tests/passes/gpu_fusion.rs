//! The passes that prepare a graph for a GPU's fusion do not change what it computes.

use fedround_ir::Loc;
use fedround_ir::tensor::{Constant, Graph, Op, TensorType, Val};
use fedround_passes::PassManager;
use fedround_passes::tensor::{one_hot_with, order_for_fusion_with};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::passes::fused::{push, same_as};

/// As a GPU runs it.
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

/// FedProx's step of a dense layer: the distance is of both parameters, and the gradient of the bias is
/// reshaped.
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
