//! What only GPUs have: graphs to capture, memory and clocks of their own, results to wait for.

use fedround_algorithms::FedAvg;
#[cfg(not(feature = "gpu"))]
use fedround_exec::tensor::device_reads;
use fedround_exec::{Device, GraphCapture, Program};
use fedround_simulation::Simulation;

use crate::{SEED, dataset, tracer};

fn simulation() -> Simulation {
    let fed_avg = FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch: 4,
        ..FedAvg::default()
    };
    let program = Program::compile_for(&fed_avg, tracer("logistic"), Device::Cpu).unwrap();
    Simulation::new(program, dataset(), SEED, 1).unwrap()
}

#[test]
fn no_graphs_are_captured() {
    let on = simulation().with_graph_capture(GraphCapture::On);
    assert!(on.unwrap().capture_stats().is_none());
    let required = simulation().with_graph_capture(GraphCapture::Require);
    let error = required.err().unwrap().to_string();
    assert!(error.contains("the CPU cannot capture graphs"), "{error}");
}

#[test]
fn nothing_is_measured() {
    let mut simulation = simulation();
    simulation.run_round().unwrap();
    assert_eq!(simulation.device_memory(), None);
    assert!(!Device::Cpu.times_kernels().unwrap());
}

/// With a GPU, other tests wait for it meanwhile: `reads.rs` counts in a process of its own.
#[cfg(not(feature = "gpu"))]
#[test]
fn nothing_is_waited_for() {
    let mut simulation = simulation();
    let before = device_reads();
    simulation.run_round().unwrap();
    assert_eq!(device_reads() - before, 0);
}
