//! Every bundled algorithm goes on from a checkpoint of any round with the same bits.

use fedround_algorithms::FedAvg;
use fedround_data::synth::SynthDigits;
use fedround_exec::{Device, Precision, Program, Target};
use fedround_simulation::{
    CheckpointError, CohortBatch, Faults, FederatedDataset, RoundStats, Simulation,
};
use fedround_store::{Archive, TensorBytes};

use crate::cases::{CASES, Case};
use crate::{dataset, gpus, tracer};

/// FedFed is not among them: on wgpu in software, one of its runs once had other bits than the same run
/// before it, without any checkpoint in between.
const ON_GPUS: [&str; 2] = ["scaffold", "adcol"];

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
    let each = CASES.iter().map(|case| differences(case, Device::Cpu));
    let wrong: Vec<String> = each.flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is saved is the same on all devices; GPUs read and write it for algorithms with states on both sides.
#[test]
#[cfg_attr(
    not(any(feature = "wgpu", feature = "cuda")),
    ignore = "needs `--features wgpu` or `cuda`"
)]
fn gpus_go_on_with_the_same_bits() {
    for device in gpus() {
        let cases = CASES.iter().filter(|case| ON_GPUS.contains(&case.0));
        let wrong: Vec<String> = cases.flat_map(|case| differences(case, device)).collect();
        assert!(wrong.is_empty(), "on {device}: {}", wrong.join("\n"));
    }
}

fn fed_avg(lr: f32, seed: u64, clients: usize) -> Simulation {
    let mut dataset = dataset();
    dataset.client_indices.truncate(clients);
    of_data(lr, seed, dataset)
}

fn of_data(lr: f32, seed: u64, dataset: FederatedDataset) -> Simulation {
    let program = program(lr, Device::Cpu.into());
    Simulation::new(program, dataset, seed, 1).unwrap()
}

fn program(lr: f32, target: Target) -> Program {
    let algorithm = FedAvg {
        lr,
        batch: 4,
        ..FedAvg::default()
    };
    Program::compile_for(&algorithm, tracer("logistic"), target).unwrap()
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

/// What is not the program but is in a round's numbers all the same.
#[test]
fn checkpoints_of_other_data_or_circumstances_are_refused() {
    let saved = fed_avg(0.1, 2, 3).save().unwrap();
    let mut other_examples = dataset();
    let others = SynthDigits {
        train: 18,
        test: 1,
        seed: 7,
        ..SynthDigits::default()
    };
    other_examples.examples = others.generate().train;
    let mut dealt = dataset();
    dealt.client_indices[1].swap(0, 1);
    let bf16 = Target {
        precision: Precision::BF16,
        ..Device::Cpu.into()
    };
    let bf16 = Simulation::new(program(0.1, bf16), dataset(), 2, 1).unwrap();
    let augmented = fed_avg(0.1, 2, 3).with_augment("flip".parse().unwrap());
    let faults = Faults {
        dropout: 0.5,
        ..Faults::default()
    };
    for (mut other, expected) in [
        (of_data(0.1, 2, other_examples), "another data: it has "),
        (
            of_data(0.1, 2, dealt),
            "another assignment of examples to clients",
        ),
        (
            augmented,
            "another augmentation: it has none, and this run has flip",
        ),
        (bf16, "another "),
        (
            fed_avg(0.1, 2, 3).with_faults(faults).unwrap(),
            "another faults of clients",
        ),
    ] {
        let before = other.parameters().unwrap();
        let error = other.restore(&saved).unwrap_err();
        assert!(matches!(error, CheckpointError::Other { .. }), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(other.parameters().unwrap(), before);
        assert_eq!(other.round(), 0);
    }
}

/// Sampled bytes of checkpoints of all algorithms, changed or cut off.
#[test]
fn no_damaged_checkpoint_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.ckpt");
    for case in CASES.iter() {
        let mut simulation = case.simulation(Device::Cpu);
        simulation.run_round().unwrap();
        simulation.save().unwrap().write(&path).unwrap();
        let good = std::fs::read(&path).unwrap();
        assert!(Archive::from_bytes(&good).is_ok());
        let mut bad = good.clone();
        for at in (0..good.len()).step_by(good.len() / 40) {
            for flip in [1, 255] {
                bad[at] ^= flip;
                assert!(Archive::from_bytes(&bad).is_err(), "{}: {at}", case.0);
                bad[at] ^= flip;
            }
            assert!(
                Archive::from_bytes(&good[..at]).is_err(),
                "{}: {at}",
                case.0
            );
        }
    }
}

/// Parts that are whole, and not what the program has: errors, and nothing changes.
#[test]
fn parts_of_other_shapes_are_refused() {
    let mut simulation = fed_avg(0.1, 2, 3);
    simulation.run_round().unwrap();
    let saved = simulation.save().unwrap();
    let before = simulation.parameters().unwrap();
    for part in [
        "simulation/version",
        "simulation/fingerprint",
        "simulation/position",
        "simulation/parameters",
        "simulation/server",
        "simulation/clients",
    ] {
        let mut other = saved.clone();
        other.insert(part, &"text").unwrap();
        let mut none = saved.clone();
        none.insert(part, &Vec::<String>::new()).unwrap();
        for (archive, may_be_empty) in [(other, false), (none, part == "simulation/server")] {
            let restored = simulation.restore(&archive);
            assert_eq!(restored.is_ok(), may_be_empty, "{part}: {restored:?}");
        }
        assert_eq!(simulation.parameters().unwrap(), before, "{part}");
        assert_eq!(simulation.round(), 1);
    }
    let mut halves = saved;
    let tensors: Vec<TensorBytes> = halves.get("simulation/parameters").unwrap();
    halves
        .insert("simulation/parameters", &tensors[..1].to_vec())
        .unwrap();
    let error = simulation.restore(&halves).unwrap_err().to_string();
    assert!(error.contains("the shapes of its tensors"), "{error}");
    assert_eq!(simulation.parameters().unwrap(), before);
}
