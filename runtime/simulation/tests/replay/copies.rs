//! Counts what a round copies to a GPU and back, and what it launches, in the trace of CUDA's emulator.

use std::fs;

use fedround_exec::GraphCapture;
use fedround_simulation::{CohortBatch, DeviceData};

use crate::case::{Case, simulation};
use crate::fed_avg;

/// What is counted, as a line of the trace has it.
const CALLS: [&str; 4] = [
    "copy to the device",
    "copy to the host",
    "cuLaunchKernel",
    "cuGraphLaunch",
];

/// The calls in the trace until now.
fn calls(trace: &str) -> [usize; 4] {
    let trace = fs::read_to_string(trace).unwrap();
    CALLS.map(|call| trace.matches(call).count())
}

/// Of the last of eight rounds of two clients, side by side, of eight steps each.
fn last_round(trace: &str, graphs: GraphCapture, data: DeviceData) -> [usize; 4] {
    let case = Case {
        algorithm: &fed_avg(),
        model: "logistic",
        parts: &[32, 32],
        rounds: 8,
        batch: CohortBatch::Clients(2),
    };
    let simulation = simulation(&case).with_device_data(data);
    let mut simulation = simulation.with_graph_capture(graphs).unwrap();
    for _ in 1..case.rounds {
        simulation.run_round().unwrap();
    }
    let before = calls(trace);
    simulation.run_round().unwrap();
    let after = calls(trace);
    std::array::from_fn(|i| after[i] - before[i])
}

#[test]
#[ignore = "needs `--features cuda`, and `EMULATOR_TRACE=FILE EMULATOR_SKIP=1 EMULATOR_DEVICES=1 tests/cuda-emulator/with` before it"]
fn a_round_copies_the_rows_of_its_batches_alone() {
    let trace = std::env::var("EMULATOR_TRACE").unwrap();
    for graphs in [GraphCapture::Off, GraphCapture::Require] {
        let counts = [DeviceData::Off, DeviceData::Auto];
        let counts = counts.map(|data| last_round(&trace, graphs, data));
        println!("{graphs}: {CALLS:?}, batches copied and gathered: {counts:?}");
        let [copied, gathered] = counts;
        // Two columns of eight batches; now the rows of all batches. A copy of the round before may come late.
        assert!((16..=17).contains(&copied[0]), "{graphs}: {copied:?}");
        assert!((1..=2).contains(&gathered[0]), "{graphs}: {gathered:?}");
        // Losses, and whether what the round made is finite.
        assert_eq!((copied[1], gathered[1]), (1, 1), "{graphs}");
        let launches = if graphs == GraphCapture::Off {
            (0, 0)
        } else {
            (8, 1)
        };
        assert_eq!((copied[3], gathered[3]), launches, "{graphs}");
    }
}
