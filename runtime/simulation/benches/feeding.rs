//! Rounds whose images are changed as they are gathered, with batches made in place and ahead of the
//! steps: `cargo bench -p fedround-exec --bench feeding`.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at its first error")]

use std::time::Instant;

use fedround_algorithms::FedAvg;
use fedround_data::{Augment, Examples, Scale};
use fedround_exec::Program;
use fedround_models::{Losses, Task, find};
use fedround_simulation::{FederatedDataset, Simulation};
use fedround_trace::TracedModel;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TASK: Task = Task {
    input: [3, 32, 32],
    classes: 10,
};

/// Clients, and examples of each.
const CLIENTS: usize = 4;
const OWN: usize = 320;

/// Prints medians of a round's seconds, rounds in place and ahead by turns.
fn main() {
    println!("| model | augmentation | workers | in place, ms | ahead, ms | ratio |");
    println!("|---|---|--:|--:|--:|--:|");
    for model in ["2nn", "cnn"] {
        for augment in ["flip", "crop:4,flip", "crop:4,flip,rotate:15"] {
            for workers in [1, 2] {
                let mut runs = [0, 1].map(|prefetch| start(model, augment, workers, prefetch));
                let mut times = [vec![], vec![]];
                for _ in 0..11 {
                    for (run, times) in runs.iter_mut().zip(&mut times) {
                        let start = Instant::now();
                        run.run_round().unwrap();
                        times.push(start.elapsed().as_secs_f64() * 1e3);
                    }
                }
                let [in_place, ahead] = times.map(|mut times| {
                    times.sort_by(f64::total_cmp);
                    times[times.len() / 2]
                });
                println!(
                    "| {model} | `{augment}` | {workers} | {in_place:.1} | {ahead:.1} | {:.2} |",
                    in_place / ahead
                );
            }
        }
    }
}

fn start(model: &str, augment: &str, workers: usize, prefetch: usize) -> Simulation {
    let built = find(model).unwrap().build(TASK, &Default::default());
    let tracer = TracedModel::new(model, built.unwrap(), TASK, Losses::default());
    let algorithm = FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch: 32,
        ..FedAvg::default()
    };
    let examples = CLIENTS * OWN;
    let bytes = (0..examples * 3 * 32 * 32).map(|i| (i * 31) as u8);
    let labels: Vec<u16> = (0..examples).map(|i| (i % 10) as u16).collect();
    let dataset = FederatedDataset {
        examples: Examples::new(TASK.input, bytes.collect(), labels, Scale::Centred).unwrap(),
        client_indices: (0..CLIENTS)
            .map(|k| (k * OWN..(k + 1) * OWN).collect())
            .collect(),
    };
    let program = Program::compile(&algorithm, tracer).unwrap();
    let simulation = Simulation::new(program, dataset, 1, workers).unwrap();
    let augment: Augment = augment.parse().unwrap();
    simulation.with_augment(augment).with_prefetch(prefetch)
}
