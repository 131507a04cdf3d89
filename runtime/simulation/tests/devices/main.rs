//! The same rounds on every device that this build knows, clients alone and in groups.
//!
//! Run with `--features wgpu` (Debian's `mesa-vulkan-drivers` is a device on any CPU) or
//! `--features cuda`. Fusion and batching reorder additions: hence tolerances of 1e-4 on parameters
//! of size 0.1.
//!
//! On a device in software, most of the time is spent on compiling kernels. Which test covers what:
//!
//! - `registry` runs every algorithm with its clients in one graph, `replays` with each client alone and with
//!   recorded steps; both compare a small model with the CPU's.
//! - The tests of this file train the CNN with its full sizes. Precisions, and the forms of convolutions, are tried
//!   on LeNet-5, which has the same layers.
//! - Tests of parties run on the CPU only, and so do tests of checkpoints, except for SCAFFOLD and ADCOL: CI runs
//!   them in a build without a GPU.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at its first error"
)]

mod altered_replies;
mod cases;
mod checkpoints;
mod convolutions;
mod cpu;
mod fusion;
#[path = "../support/gpu.rs"]
mod gpu;
mod layouts;
mod parties;
mod party_evaluation;
mod party_failures;
mod party_mutations;
mod party_sums;
mod party_values;
mod precision;
mod registry;
mod replays;
mod shared;
mod traffic;
mod troubled_parties;

use fedround_algorithms::{FedAvg, FedProx};
use fedround_data::synth::SynthDigits;
use fedround_dsl::Algorithm;
use fedround_exec::{Device, Program, Target};
use fedround_models::{Losses, Task, find};
use fedround_simulation::{CohortBatch, FederatedDataset, Simulation};
use fedround_trace::TracedModel;

/// The CPU, and the GPU of a build that has one.
fn devices() -> Vec<Device> {
    let has_gpu = cfg!(any(feature = "wgpu", feature = "cuda"));
    let gpu = has_gpu.then(gpu::gpu);
    std::iter::once(Device::Cpu).chain(gpu).collect()
}

/// The devices besides the CPU. A test that compares them fails if there is none.
fn gpus() -> Vec<Device> {
    let all = devices().into_iter();
    let gpus: Vec<Device> = all.filter(|device| *device != Device::Cpu).collect();
    assert!(!gpus.is_empty(), "this build has no device besides the CPU");
    gpus
}

const TASK: Task = Task {
    input: [1, 28, 28],
    classes: 10,
};

/// The seed of all runs.
const SEED: u64 = 2;

/// Three clients of unlike sizes.
fn dataset() -> FederatedDataset {
    let data = SynthDigits {
        train: 18,
        test: 1,
        ..SynthDigits::default()
    };
    FederatedDataset {
        examples: data.generate().train,
        client_indices: vec![(0..8).collect(), (8..13).collect(), (13..18).collect()],
    }
}

fn tracer(model: &str) -> TracedModel {
    let built = find(model).unwrap();
    let built = built.build(TASK, &burn::tensor::Device::flex()).unwrap();
    TracedModel::new(model, built, TASK, Losses::default())
}

/// Parameters and loss after two rounds.
fn run(
    algorithm: &dyn Algorithm,
    model: &str,
    target: impl Into<Target>,
    batch: CohortBatch,
) -> (Vec<f32>, f64) {
    let target = target.into();
    let device = target.device;
    let program = Program::compile_for(algorithm, tracer(model), target)
        .unwrap_or_else(|error| panic!("{device}: {error}"));
    let mut simulation = Simulation::new(program, dataset(), SEED, 2)
        .unwrap()
        .with_cohort_batch(batch);
    let mut loss = 0.0;
    for _ in 0..2 {
        loss = simulation.run_round().unwrap().train_loss;
    }
    let leaves = simulation.parameters().unwrap().into_iter();
    (leaves.flat_map(|(_, _, values)| values).collect(), loss)
}

fn agree(algorithm: &dyn Algorithm, model: &str) {
    let (expected, loss) = run(algorithm, model, Device::Cpu, CohortBatch::Off);
    for device in devices() {
        for batch in [CohortBatch::Off, CohortBatch::Clients(3)] {
            let (found, other) = run(algorithm, model, device, batch);
            let name = format!("{model} on {device}, cohort batch {batch}");
            assert!((loss - other).abs() < 1e-4, "{name}: {other}, not {loss}");
            for (i, (x, y)) in found.iter().zip(&expected).enumerate() {
                assert!((x - y).abs() < 1e-4, "{name}: element {i} is {x}, not {y}");
            }
        }
    }
}

fn fed_avg() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch: 4,
        lr: 0.1,
        ..FedAvg::default()
    }
}

#[test]
fn every_device_trains_the_same_models() {
    for model in ["logistic", "2nn", "cnn"] {
        agree(&fed_avg(), model);
    }
}

#[test]
fn every_device_trains_with_a_regularizer() {
    let prox = FedProx {
        base: fed_avg(),
        mu: 0.1,
    };
    agree(&prox, "2nn");
}
