//! Compares the time of a client's step in each bundled algorithm with FedAvg's: `cargo bench -p
//! fedround-simulation --bench baselines`.
//!
//! A step's time is a round's over the steps of its clients, so that what an algorithm does before,
//! after and between them counts. Rounds of all algorithms take turns, one client at a time on one
//! worker. Algorithms that train networks beside the model have other steps, and are left out.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at its first error")]

use std::time::Instant;

use burn::tensor::Device;
use fedround_algorithms::registry;
use fedround_data::{Column, Examples};
use fedround_dsl::set;
use fedround_exec::{Program, assemble_for};
use fedround_ir::fed::HyperValue;
use fedround_models::{AuxiliaryTask, Losses, Task, find};
use fedround_random::{SEED, StreamKey, uniform};
use fedround_simulation::{CohortBatch, FederatedDataset, Simulation};
use fedround_trace::TracedModel;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TASK: Task = Task {
    input: [1, 28, 28],
    classes: 10,
};
const CLIENTS: usize = 2;
/// The examples of each client, as 100 clients with MNIST have them.
const EXAMPLES: usize = 600;

fn main() {
    let cases = [("2nn", 10, 41), ("lenet5", 50, 21), ("cnn", 20, 9)];
    let columns = cases.map(|(model, batch, turns)| measure(model, batch, turns));
    println!("milliseconds per client-step, medians, and how many times FedAvg's");
    print!("| algorithm |");
    for (model, batch, _) in cases {
        print!(" {model}, batch {batch} | ratio |");
    }
    println!("\n|---|--:|--:|--:|--:|");
    for (i, (name, _)) in columns[0].iter().enumerate() {
        print!("| {name} |");
        for times in &columns {
            print!(" {:.3} | {:.2} |", times[i].1, times[i].1 / times[0].1);
        }
        println!();
    }
}

/// The median time of a step of every algorithm; FedAvg is the first.
fn measure(model: &str, batch: usize, turns: usize) -> Vec<(&'static str, f64)> {
    let names = registry().names().into_iter();
    let all = names.filter_map(|name| Some((name, simulation(name, model, batch)?, vec![])));
    let mut all: Vec<_> = all.collect();
    for turn in 0..turns + 2 {
        for (_, simulation, times) in &mut all {
            let start = Instant::now();
            let stats = simulation.run_round().unwrap();
            // The first round compiles and the second is the first with the clients' states.
            if turn >= 2 {
                times.push(start.elapsed().as_secs_f64() * 1e3 / stats.client_steps as f64);
            }
        }
    }
    let medians = all.into_iter().map(|(name, _, mut times)| {
        times.sort_by(f64::total_cmp);
        (name, times[times.len() / 2])
    });
    medians.collect()
}

/// All clients take part in a round of one epoch; the rest is as by default. `None` where the model
/// alone is not enough.
fn simulation(name: &str, model: &str, batch: usize) -> Option<Simulation> {
    let mut algorithm = registry().parse(name).unwrap();
    let given = [
        ("fraction", HyperValue::Float(1.0)),
        ("share", HyperValue::Float(1.0)),
        ("validators", HyperValue::Int(1)),
        ("head_epochs", HyperValue::Int(1)),
        ("batch", HyperValue::Int(batch)),
        ("lr", HyperValue::Float(0.01)),
    ];
    for (field, value) in given {
        // Not every algorithm draws clients or trains heads apart.
        set(&mut *algorithm, field, value).ok();
    }
    let device = Device::default();
    let built = find(model).unwrap().build(TASK, &device).unwrap();
    let around = AuxiliaryTask {
        task: TASK,
        clients: CLIENTS,
        variants: Default::default(),
    };
    let assembled = assemble_for(&*algorithm, built, &around, &device).unwrap();
    if !assembled.auxiliaries.is_empty() {
        return None;
    }
    let tracer = TracedModel::new(model, assembled.model, TASK, Losses::default());
    let program = Program::compile(&*algorithm, tracer).unwrap();
    let total = CLIENTS * EXAMPLES;
    let x = uniform(total * 784, 1.0, StreamKey::root(SEED).with(100));
    let y: Vec<u16> = (0..total).map(|i| (i % 10) as u16).collect();
    let x = Column::floats("x", TASK.input, x).unwrap();
    let dataset = FederatedDataset {
        examples: Examples::of_columns(vec![x], y).unwrap(),
        client_indices: (0..CLIENTS)
            .map(|k| (k * EXAMPLES..(k + 1) * EXAMPLES).collect())
            .collect(),
    };
    let simulation = Simulation::new(program, dataset, SEED, 1).unwrap();
    Some(simulation.with_cohort_batch(CohortBatch::Off))
}
