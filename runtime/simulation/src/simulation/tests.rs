//! Several devices that share a cohort. Two CPUs stand for them, which a user cannot name.

use burn_dispatch::DispatchDevice;
use fedround_algorithms::{FedAvg, FedRep, Scaffold};
use fedround_dsl::Algorithm;

use super::Simulation;
use fedround_exec::{Device, GraphCapture};

use crate::{CohortBatch, RunError, testing};

/// Parameters, the clients' own ones, and the losses of four rounds of five of seven clients of
/// unlike sizes.
type Trained = (Vec<f32>, Vec<f32>, Vec<f64>);

fn simulation(algorithm: &dyn Algorithm, threads: usize) -> Simulation {
    let simulation = testing::simulation(algorithm, &[4, 6, 3, 8, 5, 9, 7], threads);
    simulation.with_personal(algorithm).unwrap()
}

fn run(mut simulation: Simulation) -> Trained {
    let losses = (0..4).map(|_| simulation.run_round().unwrap().train_loss);
    let losses = losses.collect();
    let models = simulation.personal_models().unwrap();
    let own = models.iter().flat_map(|models| {
        let clients = (0..7).filter_map(|k| simulation.personal_parameters(models, k).unwrap());
        clients.flatten().flat_map(|(_, _, values)| values)
    });
    let own = own.collect();
    let global = simulation.parameters().unwrap().into_iter();
    (
        global.flat_map(|(_, _, values)| values).collect(),
        own,
        losses,
    )
}

/// A simulation on one device and on three.
fn shared(algorithm: &dyn Algorithm, threads: usize, batch: CohortBatch) -> Trained {
    let mut shared = simulation(algorithm, threads).with_cohort_batch(batch);
    for _ in 0..2 {
        let device = DispatchDevice::Flex(Default::default());
        shared.add(&device).unwrap();
    }
    run(shared)
}

fn close(a: &[f32], b: &[f32]) {
    assert_eq!(a.len(), b.len());
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() < 1e-6, "{x}, not {y}");
    }
}

#[test]
fn devices_share_a_cohort_and_results_stay() {
    let fed_avg = FedAvg {
        fraction: 0.7,
        batch: 4,
        lr: 0.1,
        ..FedAvg::default()
    };
    let scaffold = Scaffold {
        fraction: 0.7,
        batch: 4,
        ..Scaffold::default()
    };
    let fed_rep = FedRep {
        fraction: 0.7,
        batch: 4,
        ..FedRep::default()
    };
    let algorithms: [&dyn Algorithm; 3] = [&fed_avg, &scaffold, &fed_rep];
    for algorithm in algorithms {
        let (alone, own, losses) =
            run(simulation(algorithm, 2).with_cohort_batch(CohortBatch::Off));
        for batch in [CohortBatch::Off, CohortBatch::Clients(2)] {
            let found = shared(algorithm, 2, batch);
            close(&found.0, &alone);
            close(&found.1, &own);
            for (x, y) in found.2.iter().zip(&losses) {
                assert!((x - y).abs() < 1e-6, "{x}, not {y}");
            }
            // Whoever is first.
            assert_eq!(found, shared(algorithm, 1, batch));
            assert_eq!(found, shared(algorithm, 3, batch));
        }
    }
}

#[test]
fn a_device_shares_once() {
    let twice = simulation(&FedAvg::default(), 1).with_devices(&[Device::Cpu]);
    let error = twice
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    assert!(error.starts_with("`cpu` is named twice"), "{error}");
}

#[test]
fn every_device_has_to_replay_where_that_is_required() {
    let required = simulation(&FedAvg::default(), 1).with_graph_capture(GraphCapture::Require);
    assert!(matches!(required.err(), Some(RunError::CaptureOnCpu)));
    let mut simulation = simulation(&FedAvg::default(), 1);
    simulation.graphs = GraphCapture::Require;
    let device = DispatchDevice::Flex(Default::default());
    let added = simulation.add(&device);
    assert!(matches!(added, Err(RunError::CaptureOnCpu)));
}
