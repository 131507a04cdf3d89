//! Steps that are recorded and replayed on a GPU train as those that run op by op.
//!
//! Run with `--features wgpu` (Debian's `mesa-vulkan-drivers` is a device on any CPU) or
//! `--features cuda`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at its first error"
)]

// Specs in tests read as in a user's crate.
extern crate fedround_dsl as fedround;

use std::time::Instant;

use fedround::optim::schedule::inverse_time;
use fedround::prelude::*;
use fedround_algorithms::{FedAvg, Scaffold};
use fedround_data::synth::SynthDigits;
use fedround_exec::{
    CohortBatch, Device, Federation, GraphStats, Graphs, Program, Simulation, Tracer,
};
use fedround_models::{Losses, Task, find};

fn device() -> Device {
    match cfg!(feature = "cuda") {
        true => Device::Cuda(0),
        false => Device::Wgpu(0),
    }
}

struct Case<'a> {
    algorithm: &'a dyn Algorithm,
    model: &'a str,
    parts: &'a [usize],
    rounds: usize,
    batch: CohortBatch,
}

fn simulation(case: &Case<'_>, device: Device) -> Simulation {
    let task = Task {
        input: [1, 28, 28],
        classes: 10,
    };
    let data = SynthDigits {
        train: case.parts.iter().sum(),
        test: 1,
        ..SynthDigits::default()
    }
    .generate();
    let mut next = 0;
    let part = |n: &usize| {
        next += n;
        (next - n..next).collect()
    };
    let federation = Federation {
        examples: data.train,
        parts: case.parts.iter().map(part).collect(),
        seed: 2,
    };
    let built = find(case.model)
        .unwrap()
        .build(task, &Default::default())
        .unwrap();
    let tracer = Tracer::new(case.model, built, task, Losses::default());
    let program = Program::compile_for(case.algorithm, tracer, device).unwrap();
    Simulation::new(program, federation, 1)
        .unwrap()
        .with_cohort_batch(case.batch)
}

/// Parameters and losses of each round.
fn run(case: &Case<'_>, graphs: Graphs) -> (Vec<f32>, Vec<f64>, Option<GraphStats>) {
    let mut simulation = simulation(case, device()).with_graphs(graphs).unwrap();
    let losses = (0..case.rounds).map(|_| simulation.step().unwrap().train_loss);
    let losses = losses.collect();
    let leaves = simulation.parameters().into_iter();
    let params = leaves.flat_map(|(_, _, values)| values).collect();
    (params, losses, simulation.graph_stats())
}

/// Replayed and plain runs agree; gives what was counted.
fn agree(case: &Case<'_>) -> GraphStats {
    let (expected, losses, none) = run(case, Graphs::Off);
    assert!(none.is_none());
    let (found, others, stats) = run(case, Graphs::Require);
    let name = format!("{}, cohort batch {}", case.model, case.batch);
    for (x, y) in others.iter().zip(&losses) {
        assert!(
            (x - y).abs() < 1e-4,
            "{name}: losses {others:?}, not {losses:?}"
        );
    }
    for (i, (x, y)) in found.iter().zip(&expected).enumerate() {
        assert!((x - y).abs() < 1e-4, "{name}: element {i} is {x}, not {y}");
    }
    let stats = stats.unwrap();
    println!("{name}: {stats:?}");
    stats
}

/// Any algorithm with a step size and a proximal weight that change from round to round.
#[derive(Hyper, Debug, Clone)]
struct Fading<A = FedAvg> {
    base: A,
    #[hyper(default = 0.5, range = 0.0..)]
    mu: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Fading<A> {
    fn direction(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        inverse_time(1.0, &k.round(), 0.2) * self.base.direction(k, w, b)
    }

    fn penalty(&self, k: &ClientCx, w: &Params) -> Scalar {
        let mu = self.mu * (k.round() + 1.0);
        self.base.penalty(k, w) + mu * (w - k.received()).sq_norm()
    }
}

fn fading<A>(base: A) -> Fading<A> {
    Fading { base, mu: 0.05 }
}

/// Momentum and weight decay, too.
fn fed_avg() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        batch: 4,
        lr: 0.05,
        momentum: 0.9,
        weight_decay: 0.01,
        ..FedAvg::default()
    }
}

/// 50 steps of two clients, of which 10 are on batches of 2: alone, then side by side.
fn fifty_steps(algorithm: &dyn Algorithm, model: &str) {
    let mut case = Case {
        algorithm,
        model,
        parts: &[18, 18],
        rounds: 5,
        batch: CohortBatch::Off,
    };
    let stats = agree(&case);
    assert_eq!(stats.captured, 1, "{stats:?}");
    // All full batches but those of the first round, after which it is recorded.
    assert_eq!(stats.replays, 32, "{stats:?}");
    assert_eq!(stats.plain.values().sum::<u64>(), 50 - 32, "{stats:?}");
    case.batch = CohortBatch::Clients(2);
    let stats = agree(&case);
    assert_eq!((stats.captured, stats.replays), (1, 12), "{stats:?}");
    assert_eq!(stats.plain.values().sum::<u64>(), 25 - 12, "{stats:?}");
}

#[test]
#[cfg_attr(
    not(any(feature = "wgpu", feature = "cuda")),
    ignore = "needs `--features wgpu` or `cuda`"
)]
fn replays_of_the_2nn_are_its_steps() {
    fifty_steps(&fading(fed_avg()), "2nn");
}

#[test]
#[cfg_attr(
    not(any(feature = "wgpu", feature = "cuda")),
    ignore = "needs `--features wgpu` or `cuda`"
)]
fn replays_of_the_cnn_are_its_steps() {
    fifty_steps(&fading(fed_avg()), "cnn");
}

#[test]
#[cfg_attr(
    not(any(feature = "wgpu", feature = "cuda")),
    ignore = "needs `--features wgpu` or `cuda`"
)]
fn replays_of_scaffold_are_its_steps() {
    let scaffold = Scaffold {
        fraction: 1.0,
        batch: 4,
        lr: 0.05,
        ..Scaffold::default()
    };
    fifty_steps(&fading(scaffold), "2nn");
}

/// Clients of a group that have unlike numbers of batches, the smallest of which has none that is
/// full.
#[test]
#[cfg_attr(
    not(any(feature = "wgpu", feature = "cuda")),
    ignore = "needs `--features wgpu` or `cuda`"
)]
fn clients_that_sit_out_lose_nothing() {
    let mut case = Case {
        algorithm: &fed_avg(),
        model: "logistic",
        parts: &[18, 11, 9],
        rounds: 6,
        batch: CohortBatch::Clients(3),
    };
    let stats = agree(&case);
    // 2 full batches of all in each round, 5 steps of some; recorded after 4 rounds.
    assert_eq!((stats.captured, stats.replays), (1, 4), "{stats:?}");
    case.parts = &[18, 11, 3];
    let stats = agree(&case);
    assert_eq!((stats.captured, stats.replays), (0, 0), "{stats:?}");
    let why = "no batch is full for all clients of the group";
    assert!(stats.plain.keys().eq([why]), "{stats:?}");
}

/// Prints what a step costs; says nothing of right and wrong.
#[test]
#[ignore = "a measurement, for docs/benchmarks/gpu.md"]
fn time_of_a_step() {
    for model in ["logistic", "2nn"] {
        let case = Case {
            algorithm: &fed_avg(),
            model,
            parts: &[160],
            rounds: 12,
            batch: CohortBatch::Off,
        };
        let sides = [Graphs::Off, Graphs::Require];
        let mut sides = sides.map(|graphs| {
            let simulation = simulation(&case, device()).with_graphs(graphs).unwrap();
            (simulation, vec![])
        });
        // In turns, so that what else the machine does slows both alike.
        for round in 0..case.rounds {
            for (simulation, times) in &mut sides {
                let start = Instant::now();
                let steps = simulation.step().unwrap().client_steps;
                // The first two are plain, and record.
                if round > 1 {
                    times.push(1e3 * start.elapsed().as_secs_f64() / steps as f64);
                }
            }
        }
        let [plain, replayed] = sides.map(|(_, mut times)| {
            times.sort_by(f64::total_cmp);
            (times[0], times[times.len() / 2])
        });
        println!(
            "{model}: ms a step, least and median, plain {plain:.3?}, replayed {replayed:.3?}"
        );
    }
}

#[test]
fn the_cpu_records_nothing() {
    let case = Case {
        algorithm: &fed_avg(),
        model: "logistic",
        parts: &[4],
        rounds: 1,
        batch: CohortBatch::Off,
    };
    let on = simulation(&case, Device::Cpu).with_graphs(Graphs::On);
    assert!(on.unwrap().graph_stats().is_none());
    let required = simulation(&case, Device::Cpu).with_graphs(Graphs::Require);
    let error = required.err().unwrap().to_string();
    assert!(error.starts_with("the CPU records no steps"), "{error}");
}
