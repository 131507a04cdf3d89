//! FedAvg on logistic regression against gradient descent written by hand.

use fedround::algorithms::FedAvg;
use fedround::simulation::sampling::client_order;

use crate::common::softmax::Softmax;
use crate::common::{assert_close, dealt, digits, leaves, run, simulation, weights};

const LR: f32 = 0.5;
const SEED: u64 = 11;

/// `lr` as the compiled step has it.
fn lr() -> f64 {
    f64::from(LR)
}

fn everyone(epochs: usize, batch: usize) -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs,
        batch,
        lr: LR,
        ..FedAvg::default()
    }
}

#[test]
fn one_client_and_full_batches_are_gradient_descent() {
    let data = digits(60, 10).train;
    let all: Vec<usize> = (0..60).collect();
    let federation = dealt(&data, vec![all.clone()], SEED);
    let mut simulation = simulation(&everyone(1, 60), "logistic", federation);
    let mut expected = Softmax::new(&weights(&simulation));
    for _ in 0..5 {
        let stats = run(&mut simulation, 1);
        let loss = expected.step(&data, &all, lr());
        assert!(
            (stats.train_loss - loss).abs() < 1e-5,
            "{} {loss}",
            stats.train_loss
        );
        assert_eq!(stats.client_steps, 1);
        assert_close(&weights(&simulation), &expected.weights(), 1e-5);
    }
}

#[test]
fn one_local_step_of_all_clients_is_a_step_on_the_pooled_data() {
    // Σ n_k/n (w − lr ∇F_k(w)) = w − lr ∇F(w), for clients of any sizes.
    let data = digits(60, 10).train;
    let parts: Vec<Vec<usize>> = [0..1, 1..20, 20..27, 27..60].map(Vec::from_iter).into();
    let mut simulation = simulation(&everyone(1, 1000), "logistic", dealt(&data, parts, SEED));
    let mut expected = Softmax::new(&weights(&simulation));
    for _ in 0..5 {
        run(&mut simulation, 1);
        expected.step(&data, &Vec::from_iter(0..60), lr());
        assert_close(&weights(&simulation), &expected.weights(), 1e-5);
    }
}

/// FedAvg by hand: every client, short last batches, weights by examples.
fn by_hand(parts: &[Vec<usize>], epochs: usize, batch: usize, rounds: usize) {
    let data = digits(50, 10).train;
    let algorithm = everyone(epochs, batch);
    let federation = dealt(&data, parts.to_vec(), SEED);
    let mut simulation = simulation(&algorithm, "logistic", federation);
    let mut expected = weights(&simulation);
    let total: usize = parts.iter().map(Vec::len).sum();
    for round in 1..=rounds {
        let stats = run(&mut simulation, 1);
        let mut mean = vec![0.0f64; expected.len()];
        let mut steps = 0;
        for (k, part) in parts.iter().enumerate() {
            let mut local = Softmax::new(&expected);
            for epoch in 0..epochs {
                let order = client_order(SEED, round, k, part, epoch);
                for examples in order.chunks(batch) {
                    local.step(&data, examples, lr());
                    steps += 1;
                }
            }
            let share = part.len() as f64 / total as f64;
            for (m, w) in mean.iter_mut().zip(local.weights()) {
                *m += share * f64::from(w);
            }
        }
        expected = mean.iter().map(|m| *m as f32).collect();
        assert_eq!(stats.client_steps, steps);
        assert_close(&weights(&simulation), &expected, 1e-5);
    }
}

#[test]
fn a_short_last_batch_is_a_step_of_its_own() {
    by_hand(&[Vec::from_iter(0..17), Vec::from_iter(17..50)], 2, 5, 3);
}

#[test]
fn a_batch_of_one_example_works() {
    by_hand(&[Vec::from_iter(0..3), vec![7]], 2, 1, 2);
}

#[test]
fn a_batch_larger_than_the_client_is_all_of_it() {
    by_hand(&[Vec::from_iter(0..17), Vec::from_iter(17..19)], 3, 40, 2);
}

#[test]
fn replaced_parameters_are_where_training_goes_on() {
    let data = digits(30, 10).train;
    let all: Vec<usize> = (0..30).collect();
    let mut simulation = simulation(
        &everyone(1, 30),
        "logistic",
        dealt(&data, vec![all.clone()], SEED),
    );
    let zeros: Vec<Vec<f32>> = leaves(&simulation)
        .iter()
        .map(|l| vec![0.0; l.len()])
        .collect();
    assert!(
        !simulation.set_parameters(zeros[..1].to_vec()),
        "one tensor is missing"
    );
    assert!(simulation.set_parameters(zeros.clone()));
    let mut expected = Softmax::new(&zeros.concat());
    let stats = run(&mut simulation, 1);
    // All classes are equally likely at zero.
    assert!((stats.train_loss - 10f64.ln()).abs() < 1e-6);
    expected.step(&data, &all, lr());
    assert_close(&weights(&simulation), &expected.weights(), 1e-5);
}
