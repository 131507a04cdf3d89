//! A function is traced and compiled once, and not again in later rounds.

use fedround::algorithms::FedAvg;

use crate::common::{dealt, digits, run, simulation};

#[test]
fn later_rounds_trace_nothing() {
    let data = digits(30, 1).train;
    let parts = vec![(0..12).collect(), (12..30).collect()];
    let algorithm = FedAvg {
        fraction: 1.0,
        epochs: 2,
        batch: 5,
        lr: 0.1,
        ..FedAvg::default()
    };
    let mut simulation = simulation(&algorithm, "2nn", dealt(&data, parts, 1));
    run(&mut simulation, 1);
    let traces = simulation.program().model().traces();
    assert!(traces > 0);
    run(&mut simulation, 5);
    assert_eq!(simulation.program().model().traces(), traces);
}
