//! Checks of a function of a model, seen as a function of the model's leaves.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, Val};
use fedround_models::ForwardCx;
use fedround_passes::autodiff::grad;
use fedround_passes::tensor::{batch, fuse, fuse_elementwise, optimize};

use crate::gradients::case::{Case, run_graph};

/// The relative error to which the rounding of `f32` grows over a few dozen layers with batch statistics.
const TOLERANCE: f64 = 5e-4;

/// The point at which a function is evaluated. It creates the function's inputs.
pub struct At {
    /// The context of the model's functions, new for each evaluation.
    pub cx: ForwardCx,
    device: Device,
    dtype: DType,
}

impl At {
    /// An image or a representation with different values in `(-1, 1)`.
    pub fn floats<const D: usize>(&self, shape: [usize; D]) -> Tensor<D> {
        let n: usize = shape.iter().product();
        let values: Vec<f64> = (0..n).map(|i| (0.7 * i as f64 + 0.3).sin()).collect();
        Tensor::from_data(TensorData::new(values, shape), (&self.device, self.dtype))
    }

    /// Words, as numbers below a bound.
    pub fn words<const D: usize>(&self, shape: [usize; D], below: usize) -> Tensor<D, Int> {
        let n: usize = shape.iter().product();
        let values: Vec<i32> = (0..n).map(|i| ((5 * i + 2) % 7 % below) as i32).collect();
        Tensor::from_data(TensorData::new(values, shape), (&self.device, DType::I32))
    }
}

/// Checks a function of a model in training and in inference, by its gradients with respect to every
/// leaf:
///
/// - traced, imported, differentiated and run, it agrees with burn and its autodiff;
/// - over two clients in one graph it gives what it gives for each.
pub fn check<M: Module>(name: &str, model: &M, f: impl Fn(&M, &At) -> Tensor<1>) {
    check_in(ForwardCx::training, name, model, &f);
    check_in(ForwardCx::inference, name, model, &f);
}

/// [`check`] in training only, or in inference only.
pub fn check_in<M: Module>(
    pass: fn() -> ForwardCx,
    name: &str,
    model: &M,
    f: impl Fn(&M, &At) -> Tensor<1>,
) {
    let mut leaves = Leaves::default();
    model.visit(&mut leaves);
    let case = leaves.sizes.iter().fold(Case::new(name, 11), |case, leaf| {
        let (low, high) = leaf.range();
        case.input([1, 1, 1, leaf.size], low, high)
    });
    let of_leaves = |x: &[Tensor<4>]| {
        let model = model.clone().map(&mut Replace(x.iter()));
        let at = At {
            cx: pass(),
            device: x[0].device(),
            dtype: x[0].dtype(),
        };
        f(&model, &at)
    };
    let graph = with_gradients(case.trace(&of_leaves));
    let (value, gradients) = case.burns(&of_leaves, case.point());
    let expected = std::iter::once(vec![value]).chain(gradients);
    let fused = fuse(&graph).and_then(|g| fuse_elementwise(&g)).unwrap();
    for (i, (ours, expected)) in case.run(&fused).iter().zip(expected).enumerate() {
        case.close(&format!("output {i}"), ours, &expected, TOLERANCE, 1e-1);
    }
    check_batched(&case, &graph);
}

/// A function and its gradients, as outputs of one graph.
fn with_gradients(mut graph: Graph) -> Graph {
    let wrt: Vec<Val> = graph.inputs.iter().map(|(_, v)| *v).collect();
    let loss = graph.outputs[0].1;
    let gradients = grad(&mut graph, loss, &wrt, Loc::caller()).unwrap();
    for (i, g) in gradients.into_iter().enumerate() {
        graph.outputs.push((format!("d{i}"), g));
    }
    optimize(graph).unwrap()
}

/// Runs two clients at different points, in one graph and one by one.
fn check_batched(case: &Case, graph: &Graph) {
    let batched = batch(graph, 2, &vec![true; graph.inputs.len()]).unwrap();
    assert!(batched.looped.is_empty(), "{:?}", batched.looped);

    let clients = [1.0, 0.9];
    let scaled = |p: &Vec<f64>, c: f64| p.iter().map(|v| v * c).collect::<Vec<_>>();
    let both = case.point().iter().map(|p| {
        let values = clients.map(|c| scaled(p, c)).concat();
        TensorData::new(values, [2, 1, 1, 1, p.len()])
    });
    let together = run_graph(&optimize(batched.graph).unwrap(), both);
    for (k, c) in clients.into_iter().enumerate() {
        let own = case.point().iter();
        let own = own.map(|p| TensorData::new(scaled(p, c), [1, 1, 1, p.len()]));
        for (together, alone) in together.iter().zip(run_graph(graph, own)) {
            let n = alone.len();
            case.close(
                "of a client",
                &together[k * n..][..n],
                &alone,
                TOLERANCE,
                1e-1,
            );
        }
    }
}

/// The names and sizes of a model's leaves.
#[derive(Default)]
struct Leaves {
    sizes: Vec<LeafSize>,
    path: Vec<String>,
}

struct LeafSize {
    name: String,
    size: usize,
}

impl LeafSize {
    /// Values for which the function is neither flat nor steep: scales and variances around 1.
    fn range(&self) -> (f64, f64) {
        let around_one = ["gamma", "running_var"]
            .iter()
            .any(|n| self.name.contains(n));
        if around_one { (0.5, 1.5) } else { (-0.5, 0.6) }
    }
}

impl ModuleVisitor for Leaves {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.sizes.push(LeafSize {
            name: self.path.join("."),
            size: param.val().shape().num_elements(),
        });
    }
}

struct Replace<'a>(std::slice::Iter<'a, Tensor<4>>);

impl ModuleMapper for Replace<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let new = self.0.next().unwrap().clone();
        Param::initialized(param.id, new.reshape(param.val().dims()))
    }
}
