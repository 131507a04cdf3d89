//! Every bundled algorithm goes on from a checkpoint of any round with the same bits.

use fedround_algorithms::FedAvg;
use fedround_exec::Device;
use fedround_simulation::{CheckpointError, CohortBatch, RoundStats, Simulation};
use fedround_store::Archive;

use crate::cases::{CASES, Case};
use crate::{dataset, devices, tracer};

/// Of three rounds, with what there is after each and before the first.
struct Whole {
    rounds: Vec<String>,
    saved: Vec<Archive>,
}

/// A round's numbers, to their last bit.
fn text(stats: RoundStats) -> String {
    let bits = stats.train_loss.to_bits();
    let (up, down) = (stats.bytes_up, stats.bytes_down);
    format!("{bits:x} {} {up} {down}", stats.client_steps)
}

fn whole(mut simulation: Simulation, rounds: usize) -> Whole {
    let mut all = Whole {
        rounds: vec![],
        saved: vec![simulation.save().unwrap()],
    };
    for _ in 0..rounds {
        all.rounds.push(text(simulation.run_round().unwrap()));
        all.saved.push(simulation.save().unwrap());
    }
    all
}

/// Rounds at which the simulation went on with other bits.
fn differences(case: &Case, device: Device) -> Vec<String> {
    let simulation = || {
        let simulation = case.simulation(device);
        // Two clients in one graph and one apart.
        simulation.with_cohort_batch(CohortBatch::Clients(2))
    };
    // One round more than its phases take, so that states of the last one are read.
    let rounds = case.2 + 1;
    let all = whole(simulation(), rounds);
    let mut other = simulation();
    let mut wrong = vec![];
    // In its first turn `other` is fresh, later it goes back.
    for k in (0..=rounds).rev() {
        other.restore(&all.saved[k]).unwrap();
        assert_eq!(other.round(), k);
        for (i, expected) in all.rounds.iter().enumerate().skip(k) {
            let found = text(other.run_round().unwrap());
            if found != *expected || other.save().unwrap() != all.saved[i + 1] {
                let round = i + 1;
                wrong.push(format!("{} {:?} from {k}: round {round}", case.0, case.1));
            }
        }
    }
    wrong
}

#[test]
fn every_algorithm_goes_on_with_the_same_bits() {
    for device in devices() {
        let wrong: Vec<String> = CASES
            .iter()
            .flat_map(|case| differences(case, device))
            .collect();
        assert!(wrong.is_empty(), "on {device}: {}", wrong.join("\n"));
    }
}

fn fed_avg(lr: f32, seed: u64, clients: usize) -> Simulation {
    let algorithm = FedAvg {
        lr,
        batch: 4,
        ..FedAvg::default()
    };
    let program = fedround_exec::Program::compile(&algorithm, tracer("logistic")).unwrap();
    let mut dataset = dataset();
    dataset.client_indices.truncate(clients);
    Simulation::new(program, dataset, seed, 1).unwrap()
}

#[test]
fn checkpoints_of_something_else_are_refused() {
    let saved = fed_avg(0.1, 2, 3).save().unwrap();
    assert!(fed_avg(0.1, 2, 3).restore(&saved).is_ok());
    let mut moved = fed_avg(0.1, 2, 3);
    moved.run_round().unwrap();
    let before = moved.parameters().unwrap();
    for (mut other, expected) in [
        (fed_avg(0.2, 2, 3), "program"),
        (fed_avg(0.1, 5, 3), "seed: it has 2, and this run has 5"),
        (fed_avg(0.1, 2, 2), "number of clients: it has 3"),
    ] {
        let error = other.restore(&saved).unwrap_err();
        assert!(matches!(error, CheckpointError::Other { .. }), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
    }
    let error = moved.restore(&Archive::default()).unwrap_err();
    assert!(error.to_string().contains("no part"), "{error}");
    assert_eq!(moved.parameters().unwrap(), before);
    let mut later = saved;
    later.insert("simulation/version", &2).unwrap();
    let error = moved.restore(&later).unwrap_err();
    assert!(error.to_string().contains("version 2"), "{error}");
}
