//! Times the compilation of a model's local step, stage by stage, and prints a Markdown table:
//! `cargo bench -p fedround-exec --bench compile`.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at its first error")]

use std::hint::black_box;
use std::time::Instant;

use fedround_algorithms::FedAvg;
use fedround_dsl::stage;
use fedround_exec::Program;
use fedround_exec::executor::Plan;
use fedround_models::{Losses, Task, find};
use fedround_passes::fed::link;
use fedround_passes::lowering::{Frontend, Shapes, lower};
use fedround_passes::schedule::schedule;
use fedround_passes::tensor::{fuse, fuse_elementwise, optimize};
use fedround_trace::TracedModel;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const BATCH: usize = 20;
const RUNS: usize = 5;

const MODELS: [(&str, [usize; 3]); 4] = [
    ("2nn", [1, 28, 28]),
    ("cnn", [1, 28, 28]),
    ("resnet18", [3, 32, 32]),
    ("resnet18-gn", [3, 32, 32]),
];

fn main() {
    println!("milliseconds, medians of {RUNS}");
    println!("| model | trace | lower, with gradient | optimize | fuse | plan | all | ops |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for (name, input) in MODELS {
        let task = Task { input, classes: 10 };
        let tracer = || {
            let model = find(name).unwrap().build(task, &Default::default());
            TracedModel::new(name, model.unwrap(), task, Losses::default())
        };
        let frontend = tracer();
        let linked = link(stage(&FedAvg::default()).unwrap()).unwrap();
        let schedule = schedule(&linked.module).unwrap();
        // The local step is the longest segment.
        let steps = schedule.segments.iter();
        let step = steps.max_by_key(|s| s.ops.len()).unwrap();

        let shapes = Shapes {
            batches: step.ins.iter().map(|v| (*v, BATCH)).collect(),
            ..Shapes::default()
        };
        let x = [frontend.input(BATCH)];
        let (_, trace) = timed(|| frontend.apply("forward", &x, true).unwrap());
        let (lowered, lowering) = timed(|| lower(&schedule, step, &frontend, &shapes).unwrap());
        let (graph, optimizing) = timed(|| optimize(lowered.graph.clone()).unwrap());
        let (fused, fusing) = timed(|| fuse_elementwise(&fuse(&graph).unwrap()).unwrap());
        let (_, planning) = timed(|| Plan::new(black_box(&fused)));
        let (_, all) = timed(|| Program::compile(&FedAvg::default(), tracer()).unwrap());
        let ops = fused.nodes.len();
        println!(
            "| {name} | {trace:.2} | {lowering:.2} | {optimizing:.2} | {fusing:.2} \
             | {planning:.2} | {all:.2} | {ops} |"
        );
    }
}

/// The result of the last call, and the median time in milliseconds.
fn timed<T>(mut f: impl FnMut() -> T) -> (T, f64) {
    let mut run = || {
        let start = Instant::now();
        let result = f();
        (result, start.elapsed().as_secs_f64() * 1e3)
    };
    let mut times: Vec<f64> = (1..RUNS).map(|_| run().1).collect();
    let (result, last) = run();
    times.push(last);
    times.sort_by(f64::total_cmp);
    (result, times[RUNS / 2])
}
