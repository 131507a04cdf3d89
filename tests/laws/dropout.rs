//! Random draws in a step: what they depend on, and dropout's expectation.

use burn::module::{Initializer, Module, Param};
use burn::nn::{Linear, LinearConfig};
use burn::tensor::{Device, Tensor};
use fedround::algorithms::FedAvg;
use fedround::models::layers::Dropout;
use fedround::models::{Classifier, ForwardCx, Function, Model, Network, Task};
use fedround::prelude::*;
use fedround::simulation::{CohortBatch, Simulation};

use crate::common::{Deal, bits, compile_model, dealt, digits, run, weights};

const TASK: Task = Task {
    input: [1, 28, 28],
    classes: 10,
};

/// A linear model of which half of the inputs are dropped.
#[derive(Module, Debug)]
struct Dropped {
    dropout: Dropout,
    head: Linear,
}

impl Classifier for Dropped {
    fn features(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        self.dropout.forward(x.flatten::<2>(1, 3), cx)
    }

    fn head(&self, h: Tensor<2>, _: &ForwardCx) -> Tensor<2> {
        self.head.forward(h)
    }
}

fn dropped(p: f64) -> Box<dyn Model> {
    let config = LinearConfig::new(784, 10).with_initializer(Initializer::Zeros);
    Box::new(Dropped {
        dropout: Dropout::new(p),
        head: config.init(&Device::default()),
    })
}

fn start(algorithm: &dyn Algorithm, p: f64, federation: Deal, threads: usize) -> Simulation {
    let program = compile_model(algorithm, "dropped", dropped(p), TASK);
    federation.simulation(program, threads)
}

fn step(batch: usize) -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch,
        lr: 0.1,
        ..FedAvg::default()
    }
}

#[test]
fn a_run_is_repeated_by_its_seed_on_any_number_of_threads() {
    let data = digits(40, 1).train;
    let parts: Vec<Vec<usize>> = (0..5).map(|k| (8 * k..8 * k + 8).collect()).collect();
    let after = |seed: u64, threads: usize| {
        let federation = dealt(&data, parts.clone(), seed);
        let mut simulation = start(&step(4), 0.5, federation, threads);
        run(&mut simulation, 2);
        bits(&weights(&simulation))
    };
    let first = after(1, 1);
    assert_eq!(first, after(1, 1));
    assert_eq!(first, after(1, 4));
    assert_ne!(first, after(2, 1));
}

#[test]
fn a_group_draws_what_its_clients_draw() {
    let data = digits(30, 1).train;
    let parts = || vec![(0..5).collect(), (5..9).collect(), (9..30).collect()];
    let after = |clients: usize| {
        let mut simulation = start(&step(4), 0.5, dealt(&data, parts(), 3), 2)
            .with_cohort_batch(CohortBatch::Clients(clients));
        run(&mut simulation, 2);
        weights(&simulation)
    };
    crate::common::assert_close(&after(3), &after(1), 1e-5);
}

/// A client searches a step size by losses on noise, of which the first is enough, and takes a step with
/// dropout.
#[derive(Hyper, Debug, Clone)]
pub struct Search {
    /// Whether the last step size that is tried, which is a smaller one, is read, too: then the search goes to
    /// its end.
    #[hyper(default = false)]
    pub whole: bool,
}

#[federated]
impl Algorithm for Search {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let everyone = server.all_clients();
        let w_k = w.broadcast(&everyone).map(|k, w| self.client_update(k, w));
        self.aggregate(server, w_k)
    }

    fn client_update(&self, k: &ClientCx, mut w: Params) -> Params {
        for b in k.batches(2, 4) {
            let mut lr = 0.01 * k.num_examples();
            let mut chosen = 0.0 * &lr;
            for _ in 0..6 {
                let noise = function("uniform", &(&lr * &b.x));
                let there = cross_entropy(k.forward(&w, &noise), &b.y);
                chosen = chosen.select(&chosen, (100.0 - there).select(&lr, 0.0));
                lr = 0.5 * lr;
            }
            let size = if self.whole { chosen.max(&lr) } else { chosen };
            w -= size * grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y));
        }
        w
    }

    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        w_k.mean()
    }
}

#[test]
fn draws_do_not_depend_on_when_a_search_ends() {
    let data = digits(30, 1).train;
    let parts = || vec![(0..5).collect(), (5..9).collect(), (9..30).collect()];
    let after = |whole: bool, clients: usize| {
        let mut simulation = start(&Search { whole }, 0.5, dealt(&data, parts(), 3), 1)
            .with_cohort_batch(CohortBatch::Clients(clients));
        run(&mut simulation, 2);
        bits(&weights(&simulation))
    };
    for clients in [1, 3] {
        let same = after(false, clients) == after(true, clients);
        assert!(same, "in groups of {clients}");
    }
}

/// Logits `(Σ dropout(w), 0, …)`, so that the gradient is zero where the mask is.
#[derive(Module, Debug)]
struct Masked {
    dropout: Dropout,
    w: Param<Tensor<1>>,
}

impl Masked {
    fn forward(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        let [batch, ..] = x.dims();
        let sum = self.dropout.forward(self.w.val(), cx).sum();
        let rest = Tensor::zeros([1, TASK.classes - 1], &x.device());
        let row: Tensor<2> = Tensor::cat(vec![sum.reshape([1, 1]), rest], 1);
        row.expand([batch, TASK.classes])
    }
}

impl Network for Masked {
    fn functions() -> Vec<Function<Self>> {
        vec![Function::new("forward", Self::forward)]
    }
}

/// Gives the gradient of a client's last step; the weights stay as they are within a round.
#[derive(Hyper, Debug, Clone)]
pub struct Gradient {
    /// Steps on one example each.
    #[hyper(default = 1, range = 1..)]
    pub steps: usize,
}

#[federated]
impl Algorithm for Gradient {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let everyone = server.all_clients();
        let w_k = w.broadcast(&everyone).map(|k, w| self.client_update(k, w));
        self.aggregate(server, w_k)
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut g = 0.0 * &w;
        for b in k.batches(self.steps, 1) {
            g = grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y));
        }
        g
    }

    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        w_k.mean()
    }
}

const WIDTH: usize = 1000;

/// The mean over clients of the last round's gradients, from weights of zeros.
fn gradient(seed: u64, rounds: usize, clients: usize, steps: usize) -> Vec<f32> {
    let model = Masked {
        dropout: Dropout::new(0.25),
        w: Initializer::Zeros.init([WIDTH], &Device::default()),
    };
    let data = digits(1, 1).train;
    let federation = dealt(&data, vec![vec![0]; clients], seed);
    let program = compile_model(&Gradient { steps }, "masked", Box::new(model), TASK);
    let mut simulation = federation.simulation(program, 1);
    for _ in 0..rounds {
        assert!(simulation.set_parameters(vec![vec![0.0; WIDTH]]));
        run(&mut simulation, 1);
    }
    weights(&simulation)
}

#[test]
fn masks_are_of_their_seed_round_client_and_step() {
    let mask = |seed, round, step| -> Vec<bool> {
        let gradient = gradient(seed, round, 1, step);
        gradient.into_iter().map(|g| g == 0.0).collect()
    };
    let masks = [mask(1, 1, 1), mask(2, 1, 1), mask(1, 2, 1), mask(1, 1, 2)];
    assert_eq!(masks[0], mask(1, 1, 1));
    for (i, a) in masks.iter().enumerate() {
        let dropped = a.iter().filter(|d| **d).count();
        assert!((200..300).contains(&dropped), "{dropped} of {WIDTH}");
        for b in &masks[..i] {
            // Independent masks differ at 2 · 1/4 · 3/4 of the places.
            let differ = a.iter().zip(b).filter(|(a, b)| a != b).count();
            assert!((300..450).contains(&differ), "{differ} of {WIDTH}");
        }
    }
    // Of two clients, some elements are dropped by one and some by the other.
    let mut values = gradient(1, 1, 2, 1);
    values.sort_by(f32::total_cmp);
    values.dedup();
    assert_eq!(values.len(), 3, "{values:?}");
}

#[test]
fn gradients_keep_their_expectation() {
    // At zero the gradient without dropout is softmax − onehot of class 0 everywhere: 1/10 − 1, or
    // 1/10 where the label is another.
    let gradient = gradient(1, 1, 1, 1);
    let kept = gradient.iter().copied().find(|g| *g != 0.0).unwrap();
    let mean = gradient.iter().sum::<f32>() / WIDTH as f32;
    let plain = if kept < 0.0 { -0.9 } else { 0.1 };
    assert!((kept - plain / 0.75).abs() < 1e-5, "{kept}");
    assert!((mean / plain - 1.0).abs() < 0.1, "{mean}, without {plain}");
}
