//! Gradients of functions that contain gradients, as in the methods of papers.

use burn::tensor::Tensor;
use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, Op, TensorType};
use fedround_models::cross_entropy;
use fedround_passes::autodiff::grad;
use fedround_passes::tensor::optimize;

use crate::gradients::case::{Case, Point};
use crate::gradients::differences::slope;

const ALPHA: f64 = 0.3;

/// The cross-entropy of a linear softmax model `w: [1, 1, 3, 4]` on four fixed examples.
fn loss(w: &[Tensor<4>]) -> Tensor<1> {
    let w: Tensor<2> = w[0].clone().reshape([3, 4]);
    let device = w.device();
    let rows = [
        [0.1, -0.4, 0.8],
        [0.9, 0.3, -0.2],
        [-0.7, 0.5, 0.6],
        [0.2, 0.2, -0.9],
    ];
    let x = Tensor::<2>::from_data(rows, &device);
    let y = Tensor::from_data([0, 3, 1, 2], &device);
    cross_entropy(x.matmul(w).tanh().mul_scalar(3.0), y)
}

/// Per-FedAvg, Eq. 3: the gradient of `F(w) = f(w − α ∇f(w))` with respect to `w`.
#[test]
fn the_loss_after_a_step_is_differentiated_through_the_step() {
    let shape = [1, 1, 3, 4];
    let case = Case::new("per-fedavg", 3).input(shape, -1.0, 1.1);
    let traced = case.trace(&loss);
    let mut graph = Graph::default();
    let w = graph.input("w", TensorType::f32(shape));
    let before = graph.inline(&traced, &[w], Loc::caller()).unwrap()[0];
    let g = grad(&mut graph, before, &[w], Loc::caller()).unwrap()[0];
    let step = graph
        .push(Op::MulScalar(ALPHA), &[g], Loc::caller())
        .unwrap();
    let moved = graph.push(Op::Sub, &[w, step], Loc::caller()).unwrap();
    let after = graph.inline(&traced, &[moved], Loc::caller()).unwrap()[0];
    let meta = grad(&mut graph, after, &[w], Loc::caller()).unwrap()[0];
    graph
        .outputs
        .extend([("after".into(), after), ("meta".into(), meta)]);
    graph.verify().unwrap();
    let ours = case.run(&optimize(graph).unwrap());

    let after = |w: &Point| {
        let (_, g) = case.burns(&loss, w);
        let moved = w[0].iter().zip(&g[0]).map(|(w, g)| w - ALPHA * g);
        case.burns(&loss, &vec![moved.collect()]).0
    };
    assert!((ours[0][0] - after(case.point())).abs() < 1e-5);
    for (i, found) in ours[1].iter().enumerate() {
        let mut along = vec![vec![0.0; 12]];
        along[0][i] = 1.0;
        let d = slope(case.point(), &along, 1e-5, |w| vec![vec![after(w)]])[0][0];
        assert!(
            (found - d).abs() < 1e-5,
            "w[{i}]: {found}, differences give {d}"
        );
    }
}

/// A step of FGSM: the sign of the gradient with respect to the input.
#[test]
fn the_sign_of_an_input_gradient() {
    let case = Case::new("fgsm", 3).input([1, 1, 3, 4], -1.0, 1.1);
    let mut graph = case.trace(&loss);
    let (x, value) = (graph.inputs[0].1, graph.outputs[0].1);
    let g = grad(&mut graph, value, &[x], Loc::caller()).unwrap()[0];
    let sign = graph.push(Op::Sign, &[g], Loc::caller()).unwrap();
    graph.outputs.push(("sign".into(), sign));
    let ours = case.run(&optimize(graph).unwrap());
    let expected: Vec<f64> = case.burns(&loss, case.point()).1[0]
        .iter()
        .map(|g| g.signum())
        .collect();
    assert_eq!(ours[1], expected);
}
