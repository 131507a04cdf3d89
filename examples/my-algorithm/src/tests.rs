//! The promises that the algorithm's documentation makes, as tests.

use fedround::Algorithm;
use fedround::algorithms::FedAvg;
use fedround::data::{Partition, synth::SynthDigits};
use fedround::exec::Program;
use fedround::models::{self, Losses, Task};
use fedround::simulation::{FederatedDataset, Simulation};
use fedround::testing::{Stage, assert_graph_snapshot};
use fedround::trace::TracedModel;

use crate::lookahead::Lookahead;

fn lookahead(alpha: f32) -> Lookahead {
    Lookahead {
        base: FedAvg::default(),
        alpha,
    }
}

#[test]
fn graph_is_as_reviewed() {
    assert_graph_snapshot!(lookahead(0.5), Stage::Linked);
}

/// The parameters after some rounds on a few digits.
fn train(algorithm: &dyn Algorithm, rounds: usize) -> Vec<f32> {
    let data = SynthDigits {
        train: 200,
        test: 10,
        ..SynthDigits::default()
    }
    .generate();
    let task = Task {
        input: data.train.image_shape().unwrap(),
        classes: data.classes,
    };
    let model = models::find("logistic")
        .unwrap()
        .build(task, &Default::default())
        .unwrap();
    let tracer = TracedModel::new("logistic", model, task, Losses::default());
    let program = Program::compile(algorithm, tracer).unwrap();
    let parts = Partition::Iid
        .split(data.train.labels(), 10, 10, 1)
        .unwrap();
    let dataset = FederatedDataset {
        examples: data.train,
        client_indices: parts,
    };
    let mut simulation = Simulation::new(program, dataset, 1, 2).unwrap();
    for _ in 0..rounds {
        simulation.run_round().unwrap();
    }
    simulation
        .parameters()
        .unwrap()
        .into_iter()
        .flat_map(|(_, _, values)| values)
        .collect()
}

#[test]
fn a_whole_step_is_the_base() {
    let (whole, base) = (train(&lookahead(1.0), 3), train(&FedAvg::default(), 3));
    assert!(whole == base, "with α = 1 it is not the base");
}

#[test]
fn no_step_stays_where_it_is() {
    let (still, start) = (train(&lookahead(0.0), 3), train(&FedAvg::default(), 0));
    assert!(still == start, "with α = 0 the weights move");
}

#[test]
fn half_a_step_is_half_way() {
    let (start, theta) = (train(&FedAvg::default(), 0), train(&FedAvg::default(), 1));
    for ((w, phi), theta) in train(&lookahead(0.5), 1).iter().zip(start).zip(theta) {
        assert!((w - (phi + theta) / 2.0).abs() < 1e-6);
    }
}
