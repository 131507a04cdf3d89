//! MimeLite: local steps with the server's momentum.

use fedround::algorithms::{FedAvg, MimeLite};
use fedround::simulation::{CohortBatch, Simulation};

use crate::common::{
    Deal, assert_close, bits, dealt, digits, federation, leaves, run, simulation, weights,
};

fn mime(beta: f32, batch: usize) -> MimeLite {
    MimeLite {
        fraction: 1.0,
        epochs: 1,
        batch,
        lr: 0.1,
        beta,
    }
}

fn plain(batch: usize) -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch,
        lr: 0.1,
        ..FedAvg::default()
    }
}

fn clients() -> Deal {
    federation(&digits(60, 1).train, "iid", 4, 3)
}

fn of(beta: f32) -> Simulation {
    simulation(&mime(beta, 5), "logistic", clients())
}

#[test]
fn without_momentum_it_is_fed_avg() {
    let mut plain = simulation(&plain(5), "logistic", clients());
    let mut mime = of(0.0);
    run(&mut plain, 3);
    run(&mut mime, 3);
    assert_close(&weights(&mime), &weights(&plain), 1e-6);
}

/// With one step on all examples of one client it is momentum SGD: `m ← (1 − β) g + β m`, `w ← w − η m`.
#[test]
fn one_client_with_all_examples_takes_steps_of_momentum_sgd() {
    let data = digits(20, 1).train;
    let one = || dealt(&data, vec![(0..20).collect()], 3);
    let mut mime = simulation(&mime(0.9, 20), "logistic", one());
    let mut plain = simulation(&plain(20), "logistic", one());
    let mut m = vec![0.0; weights(&mime).len()];
    for _ in 0..3 {
        let w = weights(&mime);
        // A step of plain SGD from there tells the gradient.
        assert!(plain.set_parameters(leaves(&mime)));
        run(&mut plain, 1);
        let g = w
            .iter()
            .zip(weights(&plain))
            .map(|(w, next)| (w - next) / 0.1);
        m = g
            .zip(m)
            .map(|(g, m)| 0.1 * g + 0.9 * m)
            .collect::<Vec<f32>>();
        run(&mut mime, 1);
        let kept = mime.server_state("mimelite.m").unwrap().unwrap();
        assert_close(&kept.concat(), &m, 1e-5);
        let expected: Vec<f32> = w.iter().zip(&m).map(|(w, m)| w - 0.1 * m).collect();
        assert_close(&weights(&mime), &expected, 1e-5);
    }
    assert!(m.iter().any(|m| m.abs() > 1e-3));
}

#[test]
fn the_momentum_survives_a_checkpoint_and_groups_agree() {
    let mut whole = of(0.9);
    run(&mut whole, 2);
    let saved = whole.save().unwrap();
    run(&mut whole, 2);
    let mut resumed = of(0.9);
    resumed.restore(&saved).unwrap();
    run(&mut resumed, 2);
    assert_eq!(bits(&weights(&resumed)), bits(&weights(&whole)));
    let mut grouped = of(0.9).with_cohort_batch(CohortBatch::Clients(3));
    let stats = run(&mut grouped, 4);
    assert_close(&weights(&grouped), &weights(&whole), 1e-5);
    // The model and the momentum to each of four clients; its model and its gradient back, each with a
    // weight.
    let p = weights(&whole).len() as u64;
    assert_eq!(stats.bytes_down, 4 * 8 * p);
    assert_eq!(stats.bytes_up, 4 * (8 * p + 8));
}
