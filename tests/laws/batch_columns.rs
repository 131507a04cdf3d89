//! Columns that clients keep of a batch, and counts over it.

use burn::tensor::{Device, Int, Tensor};
use fedround::exec::Program;
use fedround::models::{self, Losses};
use fedround::prelude::*;
use fedround::trace::TracedModel;

use crate::common::{GREY, compile, digits, federation, run, simulation, trained};
use crate::rows::numbered;

/// Keeps columns of a batch in the first round, and reads them in the second.
#[derive(Hyper, Debug, Clone)]
pub struct Columns {
    /// Rounds that keep them.
    #[hyper(default = 1)]
    pub before: usize,
}

#[federated]
impl Algorithm for Columns {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.all_clients());
        if server.phase("before", self.before) {
            w_k.map(|k, w| {
                let b = k.batch(2);
                k.set_state("x", &b.x);
                k.set_state("y", &b.y);
                let (y, x) = k.smallest(1, &function("numbers", &b.x), (b.y.clone(), b.x.clone()));
                k.set_state("least", &function("numbers", &x));
                k.set_state("label", &y);
                w
            });
        } else {
            w_k.map(|k, w| {
                let x = function("numbers", &k.tensor_state("x"));
                k.set_state("read", &(1.0 * x));
                k.set_state("labels", &k.labels_state("y"));
                w
            });
        }
        w
    }
}

#[test]
fn columns_of_a_batch_are_kept() {
    let mut simulation = numbered(&Columns { before: 1 }, &[2], 1);
    run(&mut simulation, 2);
    let state = |name: &str| {
        let kept = simulation.client_state(0, name).unwrap().unwrap();
        let mut kept = kept.concat();
        kept.sort_by(f32::total_cmp);
        kept
    };
    assert_eq!(state("columns.read"), [1.0, 2.0]);
    assert_eq!(state("columns.least"), [1.0]);
}

/// Keeps features in one state and moves them to another: their shape is not that of an input, and
/// the second state is read before it is kept.
#[derive(Hyper, Debug, Clone)]
pub struct Features {
    /// Examples whose features are kept.
    #[hyper(default = 5)]
    pub batch: usize,
}

#[federated]
impl Algorithm for Features {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.all_clients());
        if server.phase("first", 1) {
            w_k.map(|k, w| {
                let h = k.apply("features", &w, &k.batch(self.batch).x);
                k.set_state("old", &h);
                k.set_state("new", &h);
                w
            });
            w
        } else {
            let z_k = w_k.map(|k, w| {
                let moved = k.tensor_state("old");
                k.set_state("old", &k.tensor_state("new"));
                k.set_state("new", &moved);
                let classes = k.apply("head", &w, &moved);
                let y = k.batch(self.batch).y;
                w.clone()
                    - 0.1
                        * grad(&w, |w| {
                            cross_entropy(k.apply("head", w, &moved), &y)
                                + cross_entropy(classes, &y)
                        })
            });
            z_k.mean()
        }
    }
}

#[test]
fn states_of_features_have_the_shape_of_features() {
    let program = compile(&Features { batch: 5 }, "cnn", GREY);
    // 512 features of five images, and not five images.
    let text = program.tensor_text(5).unwrap();
    assert!(text.contains("f32[5x512]"), "{text}");
    let data = digits(20, 1).train;
    let after = trained(
        &Features { batch: 5 },
        "cnn",
        federation(&data, "iid", 2, 3),
        3,
    );
    assert!(after.iter().all(|x| x.is_finite()));
}

/// FedSGD: a gradient on one batch, several times.
#[derive(Hyper, Debug, Clone)]
pub struct OneBatch {
    /// How often.
    #[hyper(default = 3)]
    pub steps: usize,
}

#[federated]
impl Algorithm for OneBatch {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
            let mut w = w;
            // Not a step: no gradient is taken.
            k.set_state("x", &k.batch(3).x);
            for _ in 0..self.steps {
                let b = k.batch(7);
                w -= 0.1 * grad(&w, |w| k.loss(w, &b));
            }
            w
        });
        w_k.mean()
    }
}

#[test]
fn a_gradient_on_one_batch_is_a_step() {
    let data = digits(40, 1).train;
    let mut simulation = simulation(
        &OneBatch { steps: 3 },
        "logistic",
        federation(&data, "iid", 4, 1),
    );
    assert_eq!(run(&mut simulation, 1).client_steps, 12);
}

#[test]
fn each_batch_has_the_size_that_it_is_given() {
    let program = compile(&OneBatch { steps: 3 }, "logistic", GREY);
    assert_eq!(program.batch_sizes(), [3, 7]);
    let sizes = |batch| {
        let graphs = program.graphs(batch).unwrap();
        let rows = |graph: &fedround::ir::tensor::Graph| {
            let input = graph.inputs.iter().find(|(name, _)| name == "x").unwrap();
            graph.shape(input.1)[0]
        };
        graphs.iter().map(rows).collect::<Vec<_>>()
    };
    assert_eq!(sizes(program.batch_size()), [3, 7]);
    // Those of the first.
    assert_eq!(sizes(20), [20, 7]);
}

/// The rule for one-hot labels of docs/ops.md.
fn one_hot_mse(z: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
    let ([n, classes], device) = (z.dims(), z.device());
    let hot = labels
        .reshape([n, 1])
        .equal(Tensor::arange(0..classes as i64, &device).reshape([1, classes]));
    (z - hot.float()).powi_scalar(2).mean()
}

/// Squared error of one-hot labels.
#[derive(Hyper, Debug, Clone)]
pub struct OneHot<A = fedround::algorithms::FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for OneHot<A> {
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        loss("one_hot_mse", (&k.forward(w, &b.x), &b.y))
    }
}

#[test]
fn one_hot_labels_are_compared_with_a_range() {
    let z = Tensor::<2>::from_data([[0.5, 0.25], [0.0, 1.0]], &Device::flex());
    let y = Tensor::<1, Int>::from_data([0, 1], &Device::flex());
    let expected: f32 = one_hot_mse(z, y).into_scalar();
    assert_eq!(expected, (0.25 + 0.0625) / 4.0);
    let model = models::find("logistic")
        .unwrap()
        .build(GREY, &Default::default())
        .unwrap();
    let losses = Losses::default().with("one_hot_mse", one_hot_mse);
    let tracer = TracedModel::new("logistic", model, GREY, losses);
    let spec = OneHot {
        base: fedround::algorithms::FedAvg::default(),
    };
    Program::compile(&spec, tracer).unwrap_or_else(|error| panic!("{error}"));
}
