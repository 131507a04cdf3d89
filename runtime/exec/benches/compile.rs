//! From a model to the plan of its local step, stage by stage: `cargo bench -p fedround-exec
//! --bench compile`.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at its first error")]

use std::fmt;

use divan::{Bencher, black_box};
use fedround_algorithms::FedAvg;
use fedround_dsl::stage;
use fedround_exec::plan::Plan;
use fedround_exec::{Program, Tracer};
use fedround_ir::tensor::Graph;
use fedround_models::{Losses, Task, find};
use fedround_passes::fed::link;
use fedround_passes::tensor::{
    Frontend, Lowered, Schedule, fuse, hoist, lower, optimize, schedule,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    divan::main();
}

const BATCH: usize = 20;

/// A bundled model and the sides of its inputs.
#[derive(Clone, Copy, Debug)]
struct Model(&'static str, [usize; 3]);

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

const MODELS: [Model; 4] = [
    Model("2nn", [1, 28, 28]),
    Model("cnn", [1, 28, 28]),
    Model("resnet18", [3, 32, 32]),
    Model("resnet18-gn", [3, 32, 32]),
];

fn tracer(Model(name, input): Model) -> Tracer {
    let task = Task { input, classes: 10 };
    let model = find(name)
        .unwrap()
        .build(task, &Default::default())
        .unwrap();
    Tracer::new(name, model, task, Losses::default())
}

fn fed_avg() -> Schedule {
    let linked = link(stage(&FedAvg::default()).unwrap()).unwrap();
    schedule(&linked.module).unwrap()
}

/// The segment of the local step.
fn lowered(schedule: &Schedule, tracer: &Tracer) -> Lowered {
    let step = schedule.segments.iter().max_by_key(|s| s.ops.len());
    lower(schedule, step.unwrap(), tracer, BATCH).unwrap()
}

fn optimized(model: Model) -> Graph {
    optimize(lowered(&fed_avg(), &tracer(model)).graph).unwrap()
}

/// Everything: what a program does before its first step.
#[divan::bench(args = MODELS)]
fn all(bencher: Bencher<'_, '_>, model: Model) {
    bencher
        .with_inputs(|| tracer(model))
        .bench_values(|tracer| Program::compile(&FedAvg::default(), tracer).unwrap());
}

/// The forward pass, on burn's capture device, and its import.
#[divan::bench(args = MODELS)]
fn stage1_trace(bencher: Bencher<'_, '_>, model: Model) {
    let tracer = tracer(model);
    bencher.bench_local(|| tracer.predict(&tracer.input(BATCH), true).unwrap());
}

/// Tracing, the gradient and the update.
#[divan::bench(args = MODELS)]
fn stage2_lower(bencher: Bencher<'_, '_>, model: Model) {
    let (tracer, schedule) = (tracer(model), fed_avg());
    bencher.bench_local(|| lowered(&schedule, &tracer));
}

/// Folding, sharing and dropping, to the end.
#[divan::bench(args = MODELS)]
fn stage3_optimize(bencher: Bencher<'_, '_>, model: Model) {
    let graph = lowered(&fed_avg(), &tracer(model)).graph;
    bencher
        .with_inputs(|| graph.clone())
        .bench_values(|graph| optimize(graph).unwrap());
}

/// Constants and draws out, updates into one op.
#[divan::bench(args = MODELS)]
fn stage4_hoist_and_fuse(bencher: Bencher<'_, '_>, model: Model) {
    let graph = optimized(model);
    bencher.bench_local(|| fuse(&hoist(black_box(&graph)).unwrap().0).unwrap());
}

/// Slots.
#[divan::bench(args = MODELS)]
fn stage5_plan(bencher: Bencher<'_, '_>, model: Model) {
    let graph = fuse(&optimized(model)).unwrap();
    bencher.bench_local(|| Plan::new(black_box(&graph)));
}
