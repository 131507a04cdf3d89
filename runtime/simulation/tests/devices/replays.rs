//! Every bundled algorithm trains with recorded steps as on the CPU, which records none, and which of its steps
//! are recorded. Clients train alone here and side by side in `registry`, so both kinds of kernels meet the CPU.

use std::fmt::Write;
use std::fs;
use std::time::Instant;

use fedround_exec::{Device, GraphCapture};
use fedround_simulation::CohortBatch;

use crate::cases::{CASES, Case, Trained};
use crate::gpus;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/devices/replays.txt");
/// What is there: the test may run on another machine than the one that it was built on.
const TEXTS: &str = include_str!("replays.txt");

/// Rounds after a case's phases: a step is recorded after eight.
const MORE: usize = 3;

/// Counts of a case, and where its replays differ from plain runs of the CPU.
fn replay(case: &Case, device: Device) -> (String, Vec<String>) {
    let begun = Instant::now();
    let run = |device, graphs| {
        let simulation = case.simulation(device).with_cohort_batch(CohortBatch::Off);
        let simulation = simulation.with_graph_capture(graphs).unwrap();
        Trained::of(simulation, case.2 + MORE).unwrap()
    };
    let plain = run(Device::Cpu, GraphCapture::Off);
    let replayed = run(device, GraphCapture::On);
    let graphs = replayed.graphs.clone().unwrap();
    let settings = case
        .1
        .iter()
        .map(|(name, value)| format!(", {name} = {value}"));
    let name = settings.fold(case.0.to_owned(), |name, setting| name + &setting);
    let (captured, replays) = (graphs.captured, graphs.replays);
    let mut text = format!("{name}: {captured} recorded, {replays} replays\n");
    for (why, steps) in &graphs.plain {
        writeln!(text, "  {steps} plain: {why}").unwrap();
    }
    println!("{text}  {device} {:.1?}", begun.elapsed());
    let wrong = case.differences(&replayed, &plain).into_iter();
    (
        text,
        wrong.map(|wrong| format!("{name}: {wrong}")).collect(),
    )
}

/// What is recorded depends on the plan alone, and is the same on all devices.
#[test]
#[cfg_attr(
    not(any(feature = "wgpu", feature = "cuda")),
    ignore = "needs `--features wgpu` or `cuda`"
)]
fn replays_of_every_algorithm_are_its_steps() {
    for device in gpus() {
        let each = CASES.iter().map(|case| replay(case, device));
        let (texts, wrong): (String, Vec<Vec<String>>) = each.unzip();
        assert!(wrong.iter().all(Vec::is_empty), "{device}: {wrong:#?}");
        if std::env::var_os("UPDATE_REPLAYS").is_some() {
            fs::write(PATH, texts).unwrap();
        } else {
            assert_eq!(texts, TEXTS, "{device}; UPDATE_REPLAYS=1 writes {PATH}");
        }
    }
}
