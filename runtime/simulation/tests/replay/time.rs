//! Measures the time of a replayed step.

use std::time::Instant;

use fedround_exec::GraphCapture;
use fedround_simulation::CohortBatch;

use crate::case::{Case, simulation};
use crate::fed_avg;

/// Prints what a step costs; says nothing of right and wrong.
#[test]
#[ignore = "a measurement, for docs/benchmarks/gpu.md"]
fn time_of_a_step() {
    for model in ["logistic", "2nn"] {
        let case = Case {
            algorithm: &fed_avg(),
            model,
            parts: &[160],
            rounds: 12,
            batch: CohortBatch::Off,
        };
        let sides = [GraphCapture::Off, GraphCapture::Require];
        let mut sides = sides.map(|graphs| {
            let simulation = simulation(&case).with_graph_capture(graphs).unwrap();
            (simulation, vec![])
        });
        // In turns, so that what else the machine does slows both alike.
        for round in 0..case.rounds {
            for (simulation, times) in &mut sides {
                let start = Instant::now();
                let steps = simulation.run_round().unwrap().client_steps;
                // The first two are plain, and record.
                if round > 1 {
                    times.push(1e3 * start.elapsed().as_secs_f64() / steps as f64);
                }
            }
        }
        let [plain, replayed] = sides.map(|(_, mut times)| {
            times.sort_by(f64::total_cmp);
            (times[0], times[times.len() / 2])
        });
        println!(
            "{model}: ms a step, least and median, plain {plain:.3?}, replayed {replayed:.3?}"
        );
    }
}
