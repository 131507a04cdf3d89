//! Step sizes that follow the loss of validation clients.

use fedround::algorithms::Validated;

use super::*;

fn validated(base: FedAvg) -> Validated {
    Validated {
        base,
        validators: 1,
        share: 1.0,
        examples: 1000,
    }
}

fn t(simulation: &Simulation) -> f32 {
    simulation
        .server_state("validated.passed")
        .unwrap()
        .unwrap()[0][0]
}

/// Two clients after one that validates; each has labels of its own.
const SIZES: [usize; 3] = [30, 20, 20];

/// The same without the first.
fn others() -> Deal {
    let mut all = of_sizes(&SIZES);
    all.dataset.client_indices.remove(0);
    all
}

#[test]
fn validation_clients_never_train() {
    let mut one = simulation(&validated(full_batch()), "logistic", of_sizes(&SIZES));
    let mut other = simulation(&full_batch(), "logistic", others());
    let stats = run(&mut one, 1);
    run(&mut other, 1);
    assert_close(&weights(&one), &weights(&other), 1e-6);
    // Each trainer's model up and down, and its `t`; the model down to the validator, its loss up.
    let size = 4 * (784 * 10 + 10);
    assert_eq!(stats.client_steps, 2);
    assert_eq!(stats.bytes_down, 3 * size + 2 * 4);
    assert_eq!(stats.bytes_up, 2 * (size + 4) + 4);
}

#[test]
fn steps_shrink_by_the_root_of_the_rounds_that_were_of_no_use() {
    // The others' labels are not the validator's, whose loss rises.
    let mut one = simulation(&validated(full_batch()), "logistic", of_sizes(&SIZES));
    for passed in 0..4 {
        let before = weights(&one);
        run(&mut one, 1);
        assert_eq!(t(&one), passed as f32);
        let rounds = (passed as f32 - 1.0).max(0.0);
        let base = FedAvg {
            lr: LR / (1.0 + rounds).sqrt(),
            ..full_batch()
        };
        let mut other = simulation(&base, "logistic", others());
        let (w, b) = before.split_at(784 * 10);
        assert!(other.set_parameters(vec![w.to_vec(), b.to_vec()]));
        run(&mut other, 1);
        assert_close(&weights(&one), &weights(&other), 1e-6);
    }
}

#[test]
fn steps_stay_while_the_loss_falls() {
    // All clients have the same examples.
    let mut same = of_sizes(&SIZES);
    same.dataset.client_indices = vec![same.dataset.client_indices.concat(); 3];
    let mut one = simulation(&validated(full_batch()), "logistic", same);
    run(&mut one, 4);
    assert_eq!(t(&one), 0.0);
}
