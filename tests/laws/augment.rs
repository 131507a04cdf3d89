//! Images that are changed as they are gathered.

use fedround::algorithms::FedAvg;
use fedround::data::{Augment, Column, Examples, Fit, ImageFiles};
use fedround::simulation::{CohortBatch, Simulation};

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
fn batches_made_ahead_are_those_made_in_place() {
    for (threads, group) in [(1, 1), (2, 1), (1, 3)] {
        let after = |prefetch| {
            let simulation = start("crop:2,flip,rotate:10", threads, group);
            let mut simulation = simulation.with_prefetch(prefetch);
            run(&mut simulation, 2);
            bits(&weights(&simulation))
        };
        assert_eq!(after(0), after(1));
        assert_eq!(after(0), after(3));
    }
}

#[test]
fn decoded_files_are_the_images_that_they_hold() {
    let dir = tempfile::tempdir().unwrap();
    let data = digits(60, 1).train;
    let save = |i: usize| {
        let path = dir.path().join(format!("{i}.png"));
        let bytes = data.image(i).unwrap();
        image::save_buffer(&path, bytes, 28, 28, image::ColorType::L8).unwrap();
        path
    };
    let files = ImageFiles::new((0..60).map(save).collect(), [1, 28, 28], Fit::Stretch).unwrap();
    let x = Column::images("x", files, data.x().scale().unwrap().clone()).unwrap();
    let decoded = Examples::of_columns(vec![x], data.labels()).unwrap();
    let after = |examples: &Examples| {
        let federation = federation(examples, "iid", 3, 5);
        let mut simulation = on_threads(&step(), "2nn", federation, 2);
        run(&mut simulation, 2);
        bits(&weights(&simulation))
    };
    assert_eq!(after(&data), after(&decoded));
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
