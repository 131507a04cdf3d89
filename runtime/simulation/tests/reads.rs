//! Counts how often a round waits for a GPU: once at its end, and for tensors that go from one device to
//! another.
//!
//! Run with `--features wgpu` or `--features cuda`; a test of its own process, whose reads are counted.

#![allow(clippy::unwrap_used, reason = "a test stops at its first error")]

mod support;

use fedround_algorithms::{FedAvg, FedNova, FedRep, Scaffold};
use fedround_dsl::Algorithm;
use fedround_exec::tensor::device_reads;
use fedround_exec::{Device, GraphCapture};
use fedround_simulation::{CohortBatch, Simulation};
use support::{bundled, gpu};

/// Five clients of two batches: a read in each step would show.
fn simulation(algorithm: &dyn Algorithm, devices: &[Device], batch: CohortBatch) -> Simulation {
    let model = ("2nn", bundled("2nn"));
    let simulation = support::simulation(algorithm, model, &[4; 5], devices[0]);
    let simulation = simulation.with_devices(&devices[1..]).unwrap();
    // The first replays of a recorded step are compared with plain runs, which reads their values.
    let simulation = simulation.with_graph_capture(GraphCapture::Off).unwrap();
    simulation.with_cohort_batch(batch)
}

/// Reads of the third round.
fn reads(algorithm: &dyn Algorithm, devices: &[Device], batch: CohortBatch) -> u64 {
    let mut simulation = simulation(algorithm, devices, batch);
    let mut reads = 0;
    for _ in 0..3 {
        let before = device_reads();
        simulation.run_round().unwrap();
        reads = device_reads() - before;
    }
    reads
}

#[test]
fn a_round_waits_for_its_losses_alone() {
    let fed_avg = FedAvg {
        fraction: 1.0,
        batch: 2,
        epochs: 1,
        ..FedAvg::default()
    };
    let cpu = Device::Cpu;
    assert_eq!(reads(&fed_avg, &[cpu], CohortBatch::Off), 0);
    let gpu = gpu();
    let scaffold = Scaffold {
        fraction: 1.0,
        batch: 2,
        epochs: 1,
        ..Scaffold::default()
    };
    let fed_nova = FedNova {
        fraction: 1.0,
        batch: 2,
        epochs: 1,
        ..FedNova::default()
    };
    let fed_rep = FedRep {
        fraction: 1.0,
        batch: 2,
        head_epochs: 1,
        epochs: 1,
        ..FedRep::default()
    };
    let algorithms: [&dyn Algorithm; 4] = [&fed_avg, &scaffold, &fed_nova, &fed_rep];
    let mut found = vec![];
    for algorithm in algorithms {
        for batch in [CohortBatch::Off, CohortBatch::Clients(5)] {
            let reads = reads(algorithm, &[gpu], batch);
            found.push((algorithm.name(), batch, reads));
        }
    }
    let (off, group) = (CohortBatch::Off, CohortBatch::Clients(5));
    // One at the end of the round: of all losses, and whether all that the round made is finite.
    let expected = [
        ("fedavg", off, 1),
        ("fedavg", group, 1),
        ("scaffold", off, 1),
        ("scaffold", group, 1),
        // Before that: the server computes with sums of numbers that clients have computed.
        ("fednova", off, 2),
        ("fednova", group, 2),
        ("fedrep", off, 1),
        ("fedrep", group, 1),
    ];
    assert_eq!(found, expected);
    // Three clients' losses there, and their sum; the parameters too, where they begin there.
    assert_eq!(reads(&fed_avg, &[cpu, gpu], off), 2);
    assert_eq!(reads(&fed_avg, &[gpu, cpu], off), 3);
}
