//! What a GPU says of itself: the memory that it holds, and the time that its kernels take.
//!
//! Run with `--features wgpu` (lavapipe times kernels) or `--features cuda` (which does not).

#![allow(clippy::unwrap_used, reason = "a test stops at its first error")]

use std::process::Command;
use std::time::Duration;

use fedround_algorithms::FedAvg;
use fedround_data::synth::SynthDigits;
use fedround_exec::{Device, Federation, Program, Simulation, TIMED, Tracer, kernel_time};
use fedround_models::{Losses, Task, find};

const TASK: Task = Task {
    input: [1, 28, 28],
    classes: 10,
};

fn gpu() -> Device {
    match cfg!(feature = "cuda") {
        true => Device::Cuda(0),
        false => Device::Wgpu(0),
    }
}

fn simulation(device: Device) -> Simulation {
    let data = SynthDigits {
        train: 40,
        test: 1,
        ..SynthDigits::default()
    };
    let federation = Federation {
        examples: data.generate().train,
        parts: vec![(0..20).collect(), (20..40).collect()],
        seed: 2,
    };
    let built = find("2nn").unwrap();
    let built = built.build(TASK, &Default::default()).unwrap();
    let tracer = Tracer::new("2nn", built, TASK, Losses::default());
    let fed_avg = FedAvg {
        fraction: 1.0,
        epochs: 1,
        ..FedAvg::default()
    };
    let program = Program::compile_for(&fed_avg, tracer, device).unwrap();
    Simulation::new(program, federation, 1).unwrap()
}

#[test]
fn a_cpu_says_nothing() {
    let mut simulation = simulation(Device::Cpu);
    simulation.step().unwrap();
    assert_eq!(simulation.device_memory(), None);
    assert!(!Device::Cpu.times_kernels().unwrap());
}

#[test]
#[cfg_attr(
    not(any(feature = "wgpu", feature = "cuda")),
    ignore = "needs `--features wgpu` or `cuda`"
)]
fn a_gpu_holds_the_parameters() {
    let mut simulation = simulation(gpu());
    simulation.step().unwrap();
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
    let mut simulation = simulation(gpu());
    for _ in 0..3 {
        simulation.step().unwrap();
    }
    // The log is written by a thread that is not waited for.
    std::thread::sleep(Duration::from_millis(500));
}

/// What the kernels of those rounds take, each by itself, and all that is around them.
fn timed() -> (Duration, Duration) {
    let begun = std::time::Instant::now();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "rounds_of_their_own", "--nocapture"])
        .envs(TIMED)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    (kernel_time(&said), begun.elapsed())
}

#[test]
#[cfg_attr(
    not(feature = "wgpu"),
    ignore = "needs `--features wgpu`, where kernels are timed by the device"
)]
fn kernels_take_some_of_the_time() {
    assert!(gpu().times_kernels().unwrap());
    let (kernels, all) = timed();
    assert!(
        Duration::ZERO < kernels && kernels < all,
        "{kernels:?} of {all:?}"
    );
}
