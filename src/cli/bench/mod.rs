//! `fedround bench`: the tasks of the peers in other frameworks, with their report.
//!
//! The data, partition, cohorts, batch order and initial parameters all come from one seed, as in
//! the peers. The clock starts at the end of round 1, the warm-up; with one round that one is
//! timed.

mod args;
mod process;
mod tasks;

use std::path::Path;
use std::time::Instant;

use fedround_data::{load, rng};
use fedround_exec::{CohortBatch, Device, Federation, Program, Simulation};
use fedround_models::{Losses, Task};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::error::CliError;
use super::output::print;
pub(super) use args::BenchArgs;
use tasks::BenchTask;
pub(super) use tasks::TaskName;

/// What every peer reports.
#[derive(Debug, Serialize)]
struct Report {
    peer: &'static str,
    task: &'static str,
    device: String,
    threads: usize,
    options: Map<String, Value>,
    lr: f64,
    rounds: usize,
    timed_rounds: usize,
    client_steps: u64,
    wall_s: f64,
    first_round_s: f64,
    time_to_first_round_s: f64,
    rounds_per_s: f64,
    client_steps_per_s: f64,
    test_accuracy: f64,
    test_loss: f64,
    params_l2: f64,
    peak_rss_mb: Option<f64>,
    versions: Value,
}

/// The clock's readings, in seconds.
#[derive(Debug, Default)]
struct Clock {
    first_round: f64,
    time_to_first_round: f64,
    wall: f64,
    timed_rounds: usize,
    client_steps: u64,
}

/// Runs the subcommand.
pub(super) fn bench(args: &BenchArgs) -> Result<(), CliError> {
    let started = Instant::now();
    let task = args.task.task();
    let rounds = at_least_one("rounds", args.rounds.unwrap_or(task.rounds))?;
    let threads = at_least_one("threads", args.threads)?;
    let lr = args.lr.unwrap_or(task.lr);
    process::pin(threads);
    let data = load(task.data, args.data_dir.as_deref(), rng::SEED)?;
    let (test, classes) = (data.test.clone(), data.classes);
    let device = Device::choose(&args.device)?;
    let cohort_batch: CohortBatch = args.cohort_batch.parse()?;
    let mut simulation =
        simulation(&task, lr, data, threads, device)?.with_cohort_batch(cohort_batch);
    let clock = timed(&mut simulation, rounds, started)?;
    // Before the evaluation, which the peers do outside of their measured part.
    let peak_rss = process::peak_rss_mb();
    let evaluation = simulation.evaluate(&test).map_err(failed)?;
    debug_assert_eq!(evaluation.class_accuracy.len(), classes);
    let report = Report {
        peer: "fedround",
        task: task.name,
        device: device.to_string(),
        threads,
        options: Map::from_iter([("cohort_batch".to_owned(), simulation.cohort_batch().into())]),
        lr,
        rounds,
        timed_rounds: clock.timed_rounds,
        client_steps: clock.client_steps,
        wall_s: rounded(clock.wall, 4),
        first_round_s: rounded(clock.first_round, 4),
        time_to_first_round_s: rounded(clock.time_to_first_round, 3),
        rounds_per_s: rounded(clock.timed_rounds as f64 / clock.wall, 4),
        client_steps_per_s: rounded(clock.client_steps as f64 / clock.wall, 2),
        test_accuracy: rounded(evaluation.accuracy, 5),
        test_loss: rounded(evaluation.loss, 6),
        params_l2: rounded(simulation.params_l2(), 6),
        peak_rss_mb: peak_rss.map(|mb| rounded(mb, 0)),
        versions: json!({ "fedround": env!("CARGO_PKG_VERSION"), "burn": BURN }),
    };
    let text = serde_json::to_string_pretty(&report)? + "\n";
    if let Some(path) = &args.json {
        write(path, &text)?;
    }
    print(&text)
}

/// The version that the workspace pins.
const BURN: &str = "0.22.0-pre.3";

fn simulation(
    task: &BenchTask,
    lr: f64,
    data: fedround_data::Dataset,
    threads: usize,
    device: Device,
) -> Result<Simulation, CliError> {
    let shape = Task {
        input: data.train.image_shape()?,
        classes: data.classes,
    };
    let labels = data.train.labels();
    let parts = task
        .partition
        .split(labels, data.classes, task.clients, rng::SEED)?;
    let model = fedround_models::find(task.model)?.build(shape, &Default::default())?;
    let tracer = fedround_exec::Tracer::new(task.model, model, shape, Losses::default());
    let program = Program::compile_for(&task.algorithm(lr), tracer, device)?;
    let federation = Federation {
        examples: data.train,
        parts,
        seed: rng::SEED,
    };
    Simulation::new(program, federation, threads).map_err(|source| CliError::Threads {
        threads,
        message: source.to_string(),
    })
}

fn timed(simulation: &mut Simulation, rounds: usize, started: Instant) -> Result<Clock, CliError> {
    let mut clock = Clock::default();
    let begin = Instant::now();
    let first = simulation.step().map_err(failed)?;
    clock.first_round = begin.elapsed().as_secs_f64();
    let age = process::since_start();
    clock.time_to_first_round = age.unwrap_or_else(|| started.elapsed().as_secs_f64());
    if rounds == 1 {
        clock.timed_rounds = 1;
        clock.wall = clock.first_round;
        clock.client_steps = first.client_steps;
        return Ok(clock);
    }
    let warm = Instant::now();
    for _ in 1..rounds {
        clock.client_steps += simulation.step().map_err(failed)?.client_steps;
    }
    clock.wall = warm.elapsed().as_secs_f64();
    clock.timed_rounds = rounds - 1;
    Ok(clock)
}

fn failed(source: fedround_exec::RunError) -> CliError {
    CliError::Run {
        source: Box::new(source),
        kept: None,
    }
}

fn at_least_one(name: &'static str, n: usize) -> Result<usize, CliError> {
    match n {
        0 => Err(CliError::TooSmall { name, found: 0 }),
        n => Ok(n),
    }
}

fn rounded(x: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (x * scale).round() / scale
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    std::fs::write(path, text).map_err(CliError::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_names_the_pinned_burn() {
        let manifest = include_str!("../../../Cargo.toml");
        assert!(manifest.contains(&format!("burn = {{ version = \"={BURN}\"")));
    }

    #[test]
    fn readings_are_rounded_as_in_the_peers() {
        assert_eq!(rounded(1.234_56, 3), 1.235);
        assert_eq!(rounded(172.6, 0), 173.0);
    }
}
