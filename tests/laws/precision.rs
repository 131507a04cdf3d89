//! 16-bit products: training stays near that of f32, and what is no product is f32.

use fedround::algorithms::FedAvg;
use fedround::exec::{Device, Precision};
use fedround::simulation::CohortBatch;

use crate::common::{digits, distance, federation, on, weights};

/// Losses of some rounds, and the parameters after them, on the CPU.
fn curve(precision: Precision, model: &str, batch: CohortBatch) -> (Vec<f64>, Vec<f32>) {
    let algorithm = FedAvg {
        fraction: 1.0,
        epochs: 3,
        batch: 5,
        lr: 0.1,
        ..FedAvg::default()
    };
    let data = digits(60, 1);
    let clients = federation(&data.train, "iid", 3, 4);
    let target = Device::Cpu.with_precision(precision);
    let simulation = on(&algorithm, model, clients, 2, target);
    let mut simulation = simulation.with_cohort_batch(batch);
    let loss = |_| simulation.run_round().unwrap().train_loss;
    let losses = (0..5).map(loss).collect();
    (losses, weights(&simulation))
}

/// FedAvg on a CNN: losses within 2 % of those of f32, parameters within 5 % of their length, and not
/// the same.
#[test]
fn losses_stay_near_those_of_f32() {
    let (expected, reference) = curve(Precision::F32, "cnn", CohortBatch::Off);
    assert!(expected[4] < 0.9 * expected[0], "{expected:?}");
    for precision in [Precision::BF16, Precision::F16] {
        let (found, weights) = curve(precision, "cnn", CohortBatch::Off);
        for (x, y) in found.iter().zip(&expected) {
            assert!(
                (x - y).abs() < 0.02 * y,
                "{precision}: {found:?}, not {expected:?}"
            );
        }
        assert_ne!(weights, reference, "{precision} rounds nothing");
        let length = distance(&reference, &vec![0.0; reference.len()]);
        let away = distance(&weights, &reference);
        assert!(away < 0.05 * length, "{precision}: {away} of {length}");
    }
}

/// What is rounded does not depend on how many clients run in one graph. Sums in another order round
/// to another neighbour here and there: parameters within 1 % of their length.
#[test]
fn clients_in_one_graph_round_alike() {
    for precision in [Precision::BF16, Precision::F16] {
        let (alone, a) = curve(precision, "2nn", CohortBatch::Off);
        let (grouped, b) = curve(precision, "2nn", CohortBatch::Clients(3));
        for (x, y) in alone.iter().zip(&grouped) {
            assert!(
                (x - y).abs() < 1e-3 * x,
                "{precision}: {alone:?}, {grouped:?}"
            );
        }
        let length = distance(&a, &vec![0.0; a.len()]);
        assert!(distance(&a, &b) < 1e-2 * length, "{precision}");
    }
}
