//! The measurements of a GPU by itself: the memory that it holds, and the time that its kernels take.
//!
//! Run with `--features wgpu` (lavapipe times kernels) or `--features cuda` (CUDA's emulator does, too).

#![allow(clippy::unwrap_used, reason = "a test stops at its first error")]

mod support;

use std::process::Command;
use std::time::Duration;

use fedround_algorithms::FedAvg;
use fedround_exec::GraphCapture;
use fedround_exec::device::{KERNEL_TIMING_ENV, kernel_time};
use fedround_simulation::Simulation;
use support::{bundled, gpu};

fn simulation() -> Simulation {
    let fed_avg = FedAvg {
        fraction: 1.0,
        epochs: 1,
        ..FedAvg::default()
    };
    let simulation = support::simulation(&fed_avg, ("2nn", bundled("2nn")), &[20; 2], gpu());
    // Kernels of a recorded graph are not timed.
    simulation.with_graph_capture(GraphCapture::Off).unwrap()
}

#[test]
fn a_gpu_holds_the_parameters() {
    let mut simulation = simulation();
    simulation.run_round().unwrap();
    let least = 4 * simulation.program().parameter_count() as u64;
    let held = simulation.device_memory().unwrap();
    assert!(
        (least..1 << 32).contains(&held),
        "{held}, and {least} at least"
    );
}

/// Run by the test below, in a process of its own.
#[test]
#[ignore = "run by another test"]
fn rounds_of_their_own() {
    let mut simulation = simulation();
    for _ in 0..3 {
        simulation.run_round().unwrap();
    }
    // The log is written by a thread that is not waited for.
    std::thread::sleep(Duration::from_millis(500));
}

/// What the kernels of those rounds take, each by itself, and all that is around them.
fn timed() -> (Duration, Duration) {
    let begun = std::time::Instant::now();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "rounds_of_their_own", "--nocapture"])
        .envs(KERNEL_TIMING_ENV)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    (kernel_time(&said), begun.elapsed())
}

#[test]
fn kernels_take_some_of_the_time() {
    assert!(gpu().times_kernels().unwrap());
    let (kernels, all) = timed();
    assert!(
        Duration::ZERO < kernels && kernels < all,
        "{kernels:?} of {all:?}"
    );
}
