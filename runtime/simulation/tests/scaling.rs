//! A round costs what its cohort does, however many clients are registered.

#![allow(clippy::unwrap_used, reason = "a test stops at its first error")]

use std::alloc::System;
use std::time::Instant;

use fedround_algorithms::{FedAvg, Scaffold};
use fedround_data::synth::SynthDigits;
use fedround_dsl::Algorithm;
use fedround_exec::Program;
use fedround_models::{Losses, Task, find};
use fedround_simulation::{FederatedDataset, Simulation};
use fedround_trace::TracedModel;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const COHORT: usize = 10;
const EXAMPLES: usize = 20;

/// Clients that share 400 examples.
fn simulation(algorithm: &dyn Algorithm, clients: usize) -> Simulation {
    let task = Task {
        input: [1, 28, 28],
        classes: 10,
    };
    let model = find("2nn").unwrap().build(task, &Default::default());
    let tracer = TracedModel::new("2nn", model.unwrap(), task, Losses::default());
    let program = Program::compile(algorithm, tracer).unwrap();
    let data = SynthDigits {
        train: 400,
        test: 1,
        ..SynthDigits::default()
    };
    let examples = data.generate().train;
    let part = |k: usize| (0..EXAMPLES).map(|i| (k * EXAMPLES + i) % 400).collect();
    let dataset = FederatedDataset {
        examples,
        client_indices: (0..clients).map(part).collect(),
    };
    Simulation::new(program, dataset, 5, 1).unwrap()
}

fn fed_avg(clients: usize) -> FedAvg {
    FedAvg {
        fraction: COHORT as f32 / clients as f32,
        batch: 10,
        lr: 0.01,
        ..FedAvg::default()
    }
}

fn scaffold(clients: usize) -> Simulation {
    let scaffold = Scaffold {
        fraction: COHORT as f32 / clients as f32,
        batch: 10,
        lr: 0.01,
        ..Scaffold::default()
    };
    simulation(&scaffold, clients)
}

/// The median of the bytes allocated in a round, and the seconds of the fastest and of the median one,
/// of simulations that take turns.
fn measure(mut simulations: [Simulation; 2]) -> [(usize, [f64; 2]); 2] {
    let mut readings = [vec![], vec![]];
    for round in 0..23 {
        for (simulation, readings) in simulations.iter_mut().zip(&mut readings) {
            let (region, begin) = (Region::new(ALLOCATOR), Instant::now());
            let stats = simulation.run_round().unwrap();
            let seconds = begin.elapsed().as_secs_f64();
            let bytes = region.change().bytes_allocated;
            assert_eq!(stats.client_steps, (COHORT * EXAMPLES / 10) as u64);
            // The first rounds fill the kernels' scratch.
            if round > 2 {
                readings.push((bytes, seconds));
            }
        }
    }
    readings.map(|readings| {
        let (mut bytes, mut seconds): (Vec<usize>, Vec<f64>) = readings.into_iter().unzip();
        bytes.sort_unstable();
        seconds.sort_by(f64::total_cmp);
        let half = bytes.len() / 2;
        (bytes[half], [seconds[0], seconds[half]])
    })
}

/// One test: the allocator's counters are the process's. The time is held loosely, since others
/// use the machine; `docs/benchmarks/scaling.md` has it measured.
#[test]
fn a_round_costs_what_its_cohort_does() {
    let (few, many) = (100, 100_000);
    let averages = [few, many].map(|clients| simulation(&fed_avg(clients), clients));
    let scaffolds = [few, many].map(scaffold);
    for (name, simulations) in [("fedavg", averages), ("scaffold", scaffolds)] {
        let [
            (bytes, [seconds, median]),
            (more_bytes, [more_seconds, more_median]),
        ] = measure(simulations);
        let text =
            format!("{name}: {bytes} B and {more_bytes} B, {seconds} s and {more_seconds} s");
        let (fastest, median) = (more_seconds / seconds, more_median / median);
        println!("{text}: the fastest rounds {fastest:.3} times, medians {median:.3} times");
        assert!(more_bytes as f64 <= 1.01 * bytes as f64, "{text}");
        assert!(more_seconds <= 3.0 * seconds, "{text}");
    }
    states_beyond_memory(scaffold(100), scaffold(100_000));
}

/// Bytes of states that stay in memory: of twenty clients.
const BUDGET: usize = 16 << 20;

/// The same of clients whose states do not fit in memory, beside few whose states do. Each round
/// writes the states of a cohort, and allocates what that takes.
fn states_beyond_memory(few: Simulation, many: Simulation) {
    let many = many.with_client_memory(BUDGET);
    let mut simulations = [few, many];
    let mut readings = [vec![], vec![]];
    for round in 0..63 {
        for (simulation, readings) in simulations.iter_mut().zip(&mut readings) {
            let begin = Instant::now();
            simulation.run_round().unwrap();
            // Beyond the budget, which two rounds fill.
            if round > 2 {
                readings.push(begin.elapsed().as_secs_f64());
            }
        }
    }
    let [[few, median], [many, more_median]] = readings.map(|mut seconds| {
        seconds.sort_by(f64::total_cmp);
        [seconds[0], seconds[seconds.len() / 2]]
    });
    let memory = simulations.map(|simulation| simulation.client_memory().most);
    println!(
        "scaffold beyond memory: {few} s and {many} s: the fastest rounds {:.3} times, medians {:.3} times; \
         at most {memory:?} B of states in memory",
        many / few,
        more_median / median
    );
    let state = BUDGET / 20;
    assert!(memory[1] <= BUDGET + 3 * COHORT * state, "{memory:?}");
    assert!(many <= 3.0 * few, "{few} s and {many} s");
}
