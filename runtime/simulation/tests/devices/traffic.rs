//! What a round of every bundled algorithm copies to and from a GPU, and launches: counted in the trace of
//! CUDA's emulator, whose kernels need not run for that.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};

use burn_backend::Backend;
use burn_dispatch::Dispatch;
use fedround_exec::{Device, GraphCapture};
use fedround_models::Task;
use fedround_simulation::CohortBatch;

use crate::cases::{CASES, Case};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/devices/traffic.txt");
/// What is there: the test may run on another machine than the one that it was built on.
const TEXT: &str = include_str!("traffic.txt");

/// Two clients side by side, of eight steps each.
const SIZES: [usize; 2] = [32, 32];

/// Rounds after a case's phases. In the first two the steps run plainly; then one is recorded, later several
/// of them.
const MORE: usize = 6;

/// The columns of the file: what is counted, as lines of the trace begin. The host waits for each copy to it;
/// how often cubecl waits besides, before it uses memory again, may differ from run to run.
const COLUMNS: [(&str, &str); 4] = [
    ("copies to the device", "copy to the device"),
    ("copies to the host", "copy to the host"),
    ("kernels beside graphs", "cuLaunchKernel"),
    ("graphs", "cuGraphLaunch"),
];

type Counts = [usize; COLUMNS.len()];

/// The trace, as far as it is read, and the calls in it.
struct Trace {
    lines: BufReader<File>,
    counts: Counts,
}

impl Trace {
    /// The calls until now. Those that are recorded begin with a bar, and are not made yet.
    fn calls(&mut self) -> Counts {
        for line in (&mut self.lines).lines() {
            let line = line.unwrap();
            for (count, (_, call)) in self.counts.iter_mut().zip(COLUMNS) {
                *count += usize::from(line.starts_with(call));
            }
        }
        self.counts
    }

    /// A case's line of the table.
    fn line(&mut self, name: &str, case: &Case) -> String {
        let counts = self.last_round(case);
        let counts = counts.map(|counts| counts.map(|n| n.to_string()).join(" "));
        format!("{name}: {}", counts.unwrap_or_else(|error| error))
    }

    /// The calls of a case's last round; or why there is none.
    fn last_round(&mut self, case: &Case) -> Result<Counts, String> {
        let device = Device::Cuda(0);
        let simulation = case.simulation_of(device, &SIZES);
        let simulation = simulation.with_cohort_batch(CohortBatch::Clients(2));
        let mut simulation = simulation.with_graph_capture(GraphCapture::On).unwrap();
        for _ in 1..case.2 + MORE {
            let round = simulation.run_round();
            round.map_err(|error| error.to_string())?;
        }
        // What the rounds before have asked for is done; waiting for that makes calls of its own.
        let opened = device.open().unwrap();
        let mut wait = || {
            Dispatch::sync(&opened).unwrap();
            self.calls()
        };
        let (first, before) = (wait(), wait());
        let round = simulation.run_round();
        round.map_err(|error| error.to_string())?;
        let after = wait();
        let own = |i: usize| (after[i] - before[i]).saturating_sub(before[i] - first[i]);
        Ok(std::array::from_fn(own))
    }
}

/// Those that are counted if `TRAFFIC` names no others: each case compiles some fifty kernels.
const QUICK: &str = "fedavg,fedprox,scaffold,fednova";

fn name(case: &Case) -> String {
    let settings = case.1.iter();
    let settings = settings.map(|(name, value)| format!(" {name}={value}"));
    format!("{}{}", case.0, settings.collect::<String>())
}

/// `TRAFFIC=fedaa,adcol` counts these; `TRAFFIC=all` counts all of them. `UPDATE_TRAFFIC=1` writes their lines.
#[test]
#[ignore = "needs `--features cuda`, and `EMULATOR_TRACE=FILE EMULATOR_SKIP=1 EMULATOR_DEVICES=1 tests/cuda-emulator/with` before it"]
fn rounds_copy_and_launch_as_in_the_table() {
    let path = std::env::var("EMULATOR_TRACE").unwrap();
    // The driver's first call would create it.
    let mut options = File::options();
    let trace = options.read(true).append(true).create(true).open(path);
    let trace = trace.unwrap();
    let mut trace = Trace {
        lines: BufReader::new(trace),
        counts: Counts::default(),
    };
    let chosen = std::env::var("TRAFFIC");
    let chosen = chosen.as_deref().unwrap_or(QUICK);
    let update = std::env::var_os("UPDATE_TRAFFIC").is_some();
    let known = match update {
        true => fs::read_to_string(PATH).unwrap(),
        false => TEXT.to_owned(),
    };
    let columns = COLUMNS.map(|(name, _)| name).join(", ");
    let mut table = format!("algorithm: {columns}\n");
    let mut wrong = vec![];
    for case in &CASES {
        let name = name(case);
        let before = known
            .lines()
            .find(|line| line.starts_with(&format!("{name}:")));
        let mut line = before.unwrap_or_default().to_owned();
        if chosen == "all" || chosen.split(',').any(|chosen| chosen == case.0) {
            line = trace.line(&name, case);
            if before != Some(&line) {
                // Where other programs hold the device's thread up, calls of one round may be made in the next.
                line = trace.line(&name, case);
            }
            println!("{line}");
            if before != Some(&line) {
                wrong.push(format!("{line}, not {}", before.unwrap_or("counted")));
            }
        }
        if !line.is_empty() {
            table.push_str(&line);
            table.push('\n');
        }
        if update {
            fs::write(PATH, &table).unwrap();
        }
    }
    if !update {
        assert!(
            wrong.is_empty(),
            "UPDATE_TRAFFIC=1 writes {PATH}: {wrong:#?}"
        );
    }
}

/// Kernels of a step of FedAvg on ResNet-18: see docs/benchmarks/gpu.md.
const RESNET18: usize = 201;

#[test]
#[ignore = "needs `--features cuda`, and `EMULATOR_SKIP=1 tests/cuda-emulator/with` before it"]
fn a_step_of_resnet18_has_no_more_kernels() {
    let task = Task {
        input: [3, 32, 32],
        classes: 10,
    };
    let found = CASES[0].kernels("resnet18", task, Device::Cuda(0));
    assert_eq!(found, RESNET18);
}
