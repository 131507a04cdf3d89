//! Client batching: K clients in one graph compute what each computes alone.

use fedround::algorithms::{FedAvg, FedProx};
use fedround::prelude::*;
use fedround::simulation::CohortBatch;

use crate::common::{assert_close, dealt, digits, run, simulation, weights};
use crate::state::Drift;

fn fed_avg() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 2,
        batch: 4,
        lr: 0.1,
        ..FedAvg::default()
    }
}

/// Clients of many sizes, so that some sit out whole steps and last batches are short.
fn ragged() -> Vec<Vec<usize>> {
    let mut next = 0;
    [5, 4, 9, 1, 9]
        .into_iter()
        .map(|n| {
            next += n;
            (next - n..next).collect()
        })
        .collect()
}

/// Two rounds alone and in groups of three: every client-step is taken, with the same result.
fn agree(algorithm: &dyn Algorithm, model: &str, rgb: bool, tolerance: f32) {
    let data = if rgb {
        let synth = fedround::data::synth::SynthDigits::rgb();
        fedround::data::synth::SynthDigits {
            train: 30,
            test: 1,
            ..synth
        }
        .generate()
    } else {
        digits(30, 1)
    };
    let federation = || dealt(&data.train, ragged(), 3);
    let mut alone = simulation(algorithm, model, federation());
    let mut grouped =
        simulation(algorithm, model, federation()).with_cohort_batch(CohortBatch::Clients(3));
    let (a, b) = (run(&mut alone, 2), run(&mut grouped, 2));
    assert_eq!(a.client_steps, b.client_steps);
    assert!(
        (a.train_loss - b.train_loss).abs() < 1e-5,
        "{model}: losses {} and {}",
        a.train_loss,
        b.train_loss
    );
    assert_close(&weights(&grouped), &weights(&alone), tolerance);
}

#[test]
fn batched_is_sequential_for_every_model() {
    for model in ["logistic", "2nn", "cnn"] {
        agree(&fed_avg(), model, false, 2e-6);
    }
    for model in ["lenet5", "pfl-cnn"] {
        agree(&fed_avg(), model, true, 1e-5);
    }
}

#[test]
fn batched_is_sequential_with_a_regularizer_on_shared_parameters() {
    let prox = FedProx {
        base: fed_avg(),
        mu: 0.1,
    };
    agree(&prox, "2nn", false, 2e-6);
}

#[test]
fn batched_is_sequential_with_client_state() {
    agree(&Drift { base: fed_avg() }, "logistic", false, 2e-6);
}

/// Keeps a gradient that no example has a part in: a segment that a group shares.
#[derive(Hyper, Debug, Clone)]
struct Shared<A = FedAvg> {
    /// What gives the direction.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Shared<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = w;
        for b in k.batches(2, 4) {
            let g = grad(&k.global_params(), |w| 0.5 * w.sq_norm());
            k.set_state("g", &g);
            w -= 0.1 * self.gradient(k, &w, &b);
        }
        w
    }
}

#[test]
fn a_loss_that_clients_share_counts_for_each_that_takes_the_step() {
    agree(&Shared { base: fed_avg() }, "logistic", false, 2e-6);
}
