//! Images that are changed as they are gathered.

use fedround::algorithms::FedAvg;
use fedround::data::Augment;
use fedround::exec::{CohortBatch, Simulation};

use crate::common::{assert_close, bits, digits, federation, on_threads, run, weights};

fn step() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 2,
        batch: 8,
        lr: 0.1,
        ..FedAvg::default()
    }
}

fn start(augment: &str, threads: usize, group: usize) -> Simulation {
    let data = digits(60, 1).train;
    let simulation = on_threads(&step(), "2nn", federation(&data, "iid", 3, 5), threads);
    let augment: Augment = augment.parse().unwrap();
    let group = CohortBatch::Clients(group);
    simulation.with_augment(augment).with_cohort_batch(group)
}

fn after(augment: &str, threads: usize, group: usize) -> Vec<f32> {
    let mut simulation = start(augment, threads, group);
    run(&mut simulation, 2);
    weights(&simulation)
}

#[test]
fn a_run_is_repeated_by_its_seed_on_any_number_of_threads_and_in_groups() {
    let changed = after("crop:2,flip,rotate:10", 1, 1);
    assert_eq!(bits(&changed), bits(&after("crop:2,flip,rotate:10", 3, 1)));
    assert_close(&after("crop:2,flip,rotate:10", 2, 3), &changed, 1e-5);
    assert_ne!(bits(&changed), bits(&after("none", 1, 1)));
}

#[test]
fn nothing_is_changed_by_nothing() {
    assert_eq!(bits(&after("crop:0", 2, 1)), bits(&after("none", 2, 1)));
}

#[test]
fn test_images_are_normalised_and_not_turned() {
    let test = digits(1, 50).test;
    let loss = |augment: &str| start(augment, 1, 1).evaluate(&test).unwrap().loss;
    assert_eq!(loss("rotate:45,crop:4"), loss("none"));
    assert_eq!(
        loss("rotate:45,normalise:0.5:0.5"),
        loss("normalise:0.5:0.5")
    );
    assert_ne!(loss("normalise:0.5:0.5"), loss("none"));
}
