//! Functions of a model by name, losses of several tensors, and gradients of inputs.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Int, Tensor, TensorData};
use fedround::algorithms::FedAvg;
use fedround::exec::Program;
use fedround::models::{Losses, find};
use fedround::prelude::*;
use fedround::simulation::CohortBatch;
use fedround::trace::TracedModel;

use crate::common::{GREY, assert_close, bits, dealt, digits, federation, leaves, run, simulation};
use crate::common::{trained, weights};

/// FedAvg with the model's two halves called one after the other.
#[derive(Hyper, Debug, Clone)]
pub struct Halves<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Halves<A> {
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let h = k.apply("features", w, &b.x);
        cross_entropy(k.apply("head", w, &h), &b.y)
    }
}

/// Training on inputs moved against the model: `x' = x + ε ∇_x ℓ(w; x)`.
#[derive(Hyper, Debug, Clone)]
pub struct Adversarial<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// `ε`: how far.
    #[hyper(default = 0.5, range = 0.0..)]
    pub epsilon: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Adversarial<A> {
    fn gradient(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        let g = grad(&b.x, |x| cross_entropy(k.forward(w, x), &b.y));
        let x = &b.x + self.epsilon * g;
        grad(w, |w| cross_entropy(k.forward(w, &x), &b.y))
    }
}

/// A loss of three tensors: cross-entropy and the squared distance from the received model's
/// features.
#[derive(Hyper, Debug, Clone)]
pub struct Agreement<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Agreement<A> {
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let (own, received) = (
            k.apply("features", w, &b.x),
            k.apply("features", &k.global_params(), &b.x),
        );
        loss(
            "agreement",
            (&k.apply("head", w, &own), &b.y, &own, &received),
        )
    }
}

fn agreement(z: Tensor<2>, y: Tensor<1, Int>, own: Tensor<2>, received: Tensor<2>) -> Tensor<1> {
    let [n, _] = z.dims();
    let likelihood = log_softmax(z, 1).gather(1, y.reshape([n, 1])).mean();
    (own - received).powi_scalar(2).mean() - likelihood
}

fn base() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch: 8,
        lr: 0.1,
        ..FedAvg::default()
    }
}

fn compiled(algorithm: &dyn Algorithm, model: &str) -> Result<Program, String> {
    let built = find(model).unwrap().build(GREY, &Device::default());
    let per_example = |z: Tensor<2>| z.sum_dim(1).squeeze_dim::<1>(1);
    let losses = Losses::default().with("agreement", agreement);
    let quotient =
        |z: Tensor<2>, y: Tensor<1, Int>| z.mean() * (y.clone() / (y + 1)).float().mean();
    let losses = losses.with("per example", per_example);
    let losses = losses.with("quotient", quotient);
    let tracer = TracedModel::new(model, built.unwrap(), GREY, losses);
    Program::compile(algorithm, tracer).map_err(|e| e.to_string())
}

#[test]
fn a_model_is_its_features_and_its_head() {
    let data = digits(60, 10).train;
    let deal = || federation(&data, "iid", 3, 5);
    for model in ["logistic", "2nn", "cnn"] {
        let halves = trained(&Halves { base: base() }, model, deal(), 2);
        assert_eq!(
            bits(&halves),
            bits(&trained(&base(), model, deal(), 2)),
            "{model}"
        );
    }
}

#[test]
fn a_step_on_moved_inputs_is_that_of_autodiff() {
    let data = digits(8, 1).train;
    let all: Vec<usize> = (0..8).collect();
    let adversarial = Adversarial {
        base: base(),
        epsilon: 20.0,
    };
    let mut simulation = simulation(&adversarial, "logistic", dealt(&data, vec![all.clone()], 1));
    let device = Device::default().autodiff();
    let (mut x, mut y) = (vec![], vec![]);
    data.gather(&all, &mut x, &mut y).unwrap();
    let before = leaves(&simulation);
    let tensor = |values: &[f32], shape: [usize; 2]| {
        Tensor::<2>::from_data(TensorData::new(values.to_vec(), shape), &device).require_grad()
    };
    let loss = |w: &Tensor<2>, b: &Tensor<2>, x: &Tensor<2>| {
        let y = Tensor::<2, Int>::from_data(TensorData::new(y.clone(), [8, 1]), &device);
        let z = x.clone().matmul(w.clone()) + b.clone();
        log_softmax(z, 1).gather(1, y).mean().neg()
    };
    let (w, b, x) = (
        tensor(&before[0], [784, 10]),
        tensor(&before[1], [1, 10]),
        tensor(&x, [8, 784]),
    );
    let moved = loss(&w, &b, &x).backward();
    let moved = x.clone().inner() + 20.0 * x.grad(&moved).unwrap();
    let moved = Tensor::from_inner(moved);
    let gradients = loss(&w, &b, &moved).backward();
    let next = |t: &Tensor<2>| -> Vec<f32> {
        let next = t.clone().inner() - t.grad(&gradients).unwrap() * 0.1;
        next.into_data().try_to_vec().unwrap()
    };
    let expected = [next(&w), next(&b)].concat();
    run(&mut simulation, 1);
    assert_close(&weights(&simulation), &expected, 1e-5);
    let plain = trained(&base(), "logistic", dealt(&data, vec![all], 1), 1);
    let far = plain.iter().zip(&expected).map(|(a, b)| (a - b).abs());
    assert!(far.fold(0.0, f32::max) > 1e-3, "the inputs were not moved");
}

#[test]
fn inputs_of_a_group_are_moved_for_each_client() {
    let data = digits(42, 1).train;
    let parts = || vec![(0..5).collect(), (5..19).collect(), (19..42).collect()];
    let after = |clients: usize| {
        let algorithm = Adversarial {
            base: base(),
            epsilon: 5.0,
        };
        let mut simulation = simulation(&algorithm, "2nn", dealt(&data, parts(), 3))
            .with_cohort_batch(CohortBatch::Clients(clients));
        run(&mut simulation, 2);
        weights(&simulation)
    };
    assert_close(&after(3), &after(1), 1e-5);
}

#[test]
fn a_loss_takes_up_to_four_tensors() {
    let data = digits(60, 1).train;
    let program = compiled(&Agreement { base: base() }, "2nn").unwrap();
    let mut simulation = federation(&data, "iid", 3, 5).simulation(program, 2);
    // The first step starts where the received model is: the distance is zero and has no slope.
    let first = run(&mut simulation, 1).train_loss;
    let last = run(&mut simulation, 4).train_loss;
    assert!(last < first, "{first} {last}");
}

/// Calls a function that classifiers do not have.
#[derive(Hyper, Debug, Clone)]
pub struct Wrong<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Wrong<A> {
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let z = k.forward(w, &b.x);
        loss("cross_entropy", (&z, &k.apply("encode", w, &b.x)))
    }
}

/// Gives a loss one tensor too few.
#[derive(Hyper, Debug, Clone)]
pub struct Short<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Short<A> {
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        loss("cross_entropy", &k.forward(w, &b.x))
    }
}

/// Gives a loss features for labels.
#[derive(Hyper, Debug, Clone)]
pub struct Swapped<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Swapped<A> {
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let z = k.forward(w, &b.x);
        loss("cross_entropy", (&z, &z))
    }
}

/// A loss with a number for each example, of which none is the batch's.
#[derive(Hyper, Debug, Clone)]
pub struct PerExample<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for PerExample<A> {
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        loss("per example", &k.forward(w, &b.x))
    }
}

/// A loss with an operation on integers that the compiler has on floats only.
#[derive(Hyper, Debug, Clone)]
pub struct Quotient<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Quotient<A> {
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        loss("quotient", (&k.forward(w, &b.x), &b.y))
    }
}

/// Reads a column that images do not have.
#[derive(Hyper, Debug, Clone)]
pub struct Words<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Words<A> {
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        loss("cross_entropy", (&k.forward(w, &b.x), &b.labels("words")))
    }
}

#[test]
fn wrong_calls_say_what_there_is() {
    let error = |algorithm: &dyn Algorithm| compiled(algorithm, "2nn").err().unwrap();
    let expect = |found: String, expected: &str| assert!(found.contains(expected), "{found}");
    expect(
        error(&Wrong { base: base() }),
        "unknown function of the model `encode`; there are forward, features, head",
    );
    expect(
        error(&Short { base: base() }),
        "`cross_entropy` takes 2 tensors, found 1",
    );
    expect(
        error(&Swapped { base: base() }),
        "`cross_entropy` takes integers of rank 1 as its tensor 2, found floats [8, 10]",
    );
    expect(
        error(&PerExample { base: base() }),
        "loss `per example` gives a tensor of shape [8], expected one number, of shape [1]; end it in `.mean()`",
    );
    let ill_typed = error(&Quotient { base: base() });
    assert!(ill_typed.contains("functions.rs:") && !ill_typed.contains("import"));
    expect(
        ill_typed,
        "loss `quotient` cannot be compiled: `tensor.div` expected",
    );
    expect(
        error(&Words { base: base() }),
        "the data has no column `words`; it has x, y",
    );
}
