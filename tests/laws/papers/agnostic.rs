//! Mixtures of clients, and the clients on which the model is worst.

use fedround::algorithms::Agnostic;

use super::robust::{Uniform, uploads};
use super::*;

const SIZES: [usize; 3] = [60, 20, 40];

fn agnostic(base: FedAvg, dual_lr: f32) -> Agnostic {
    Agnostic {
        base,
        dual_lr,
        examples: 1000,
    }
}

fn of(algorithm: &dyn Algorithm) -> Simulation {
    simulation(algorithm, "logistic", of_sizes(&SIZES))
}

/// `λ`, of which the server keeps the difference from a uniform mixture.
fn mixture(simulation: &Simulation) -> Vec<f32> {
    let kept = |k: usize| simulation.server_state_for(k, "agnostic.lambda").unwrap();
    let clients = 0..SIZES.len();
    let uniform = 1.0 / SIZES.len() as f32;
    clients
        .map(|k| kept(k).map_or(0.0, |kept| kept[0][0]) + uniform)
        .collect()
}

/// Losses of the clients' examples by the current model.
fn losses(simulation: &Simulation) -> Vec<f32> {
    let dataset = of_sizes(&SIZES).dataset;
    let loss = |rows: &Vec<usize>| {
        simulation
            .evaluate(&dataset.examples.subset(rows))
            .unwrap()
            .loss
    };
    dataset
        .client_indices
        .iter()
        .map(|rows| loss(rows) as f32)
        .collect()
}

#[test]
fn without_a_dual_step_clients_weigh_the_same() {
    let found = trained(&agnostic(base(), 0.0), "logistic", of_sizes(&SIZES), 3);
    let uniform = Uniform { base: base() };
    let expected = trained(&uniform, "logistic", of_sizes(&SIZES), 3);
    assert_close(&found, &expected, 1e-6);
}

#[test]
fn the_mixture_ascends_on_losses_and_stays_one() {
    let mut simulation = of(&agnostic(full_batch(), 0.05));
    for round in 0..3 {
        let (before, losses) = (mixture(&simulation), losses(&simulation));
        run(&mut simulation, 1);
        let after = mixture(&simulation);
        assert!((after.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{after:?}");
        // Inside of the simplex, what is projected loses the same everywhere.
        let mean = losses.iter().sum::<f32>() / losses.len() as f32;
        let expected = before
            .iter()
            .zip(&losses)
            .map(|(l, loss)| l + 0.05 * (loss - mean));
        assert_close(&after, &expected.collect::<Vec<f32>>(), 1e-4);
        assert!(round == 0 || before.iter().any(|l| (l - 1.0 / 3.0).abs() > 1e-4));
    }
}

#[test]
fn models_are_averaged_by_the_mixture_before_the_step() {
    let mut simulation = of(&agnostic(full_batch(), 0.05));
    run(&mut simulation, 2);
    let lambda = mixture(&simulation);
    let sent = uploads(&mut simulation);
    let entry = |i: usize| lambda.iter().zip(&sent).map(|(l, w)| l * w[i]).sum();
    let expected: Vec<f32> = (0..sent[0].len()).map(entry).collect();
    assert_close(&weights(&simulation), &expected, 1e-5);
}

/// The client with the greatest loss has a smaller one than in a uniform mean.
#[test]
fn the_worst_client_gains() {
    let greatest = |dual_lr: f32| {
        let mut simulation = of(&agnostic(base(), dual_lr));
        run(&mut simulation, 15);
        losses(&simulation).into_iter().fold(0.0, f32::max)
    };
    let (uniform, agnostic) = (greatest(0.0), greatest(0.02));
    assert!(agnostic < uniform, "{agnostic}, uniform {uniform}");
}

/// Of a cohort, its clients' own share of the mixture is divided anew, and the others' stays.
#[test]
fn who_is_not_drawn_keeps_its_weight() {
    let some = FedAvg {
        fraction: 0.67,
        ..base()
    };
    let mut simulation = of(&agnostic(some, 0.05));
    for _ in 0..4 {
        let before = mixture(&simulation);
        run(&mut simulation, 1);
        let after = mixture(&simulation);
        let kept = before.iter().zip(&after).filter(|(a, b)| a == b).count();
        assert_eq!(kept, 1, "{before:?} {after:?}");
        assert!((after.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{after:?}");
    }
}

#[test]
fn a_mixture_is_in_the_checkpoint() {
    let (mut whole, mut first) = (of(&agnostic(base(), 0.1)), of(&agnostic(base(), 0.1)));
    run(&mut whole, 3);
    run(&mut first, 2);
    let mut second = of(&agnostic(base(), 0.1));
    second.restore(&first.save().unwrap()).unwrap();
    assert_eq!(bits(&mixture(&second)), bits(&mixture(&first)));
    run(&mut second, 1);
    assert_eq!(bits(&weights(&second)), bits(&weights(&whole)));
}
