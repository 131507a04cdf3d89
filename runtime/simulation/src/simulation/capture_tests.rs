//! Captured steps on the CPU, which captures nothing: they run op by op in their buffers.

use fedround_algorithms::{FedAvg, Scaffold};
use fedround_dsl::Algorithm;
use fedround_exec::capture::StepCache;
use fedround_exec::{ExecError, GraphCapture};

use super::Simulation;
use crate::{CohortBatch, RunError, testing};

/// Clients with full and short batches, on the CPU, which records nothing.
fn simulation(algorithm: &dyn Algorithm, group: usize) -> Simulation {
    let simulation = testing::simulation(algorithm, &[10, 8, 9], 1);
    simulation.with_cohort_batch(CohortBatch::Clients(group))
}

fn scaffold() -> Scaffold {
    Scaffold {
        fraction: 1.0,
        batch: 4,
        ..Scaffold::default()
    }
}

#[test]
fn a_step_that_is_not_recorded_runs_plainly_in_its_buffers() {
    let momentum = FedAvg {
        fraction: 1.0,
        batch: 4,
        momentum: 0.9,
        ..FedAvg::default()
    };
    let algorithms: [&dyn Algorithm; 2] = [&momentum, &scaffold()];
    for (algorithm, group) in algorithms.into_iter().flat_map(|a| [(a, 1), (a, 3)]) {
        let mut plain = simulation(algorithm, group);
        let mut other = simulation(algorithm, group);
        other.main_device.step_cache = Some(StepCache::new(GraphCapture::On));
        for _ in 0..7 {
            assert_eq!(plain.run_round().unwrap(), other.run_round().unwrap());
        }
        assert_eq!(plain.parameters().unwrap(), other.parameters().unwrap());
        let stats = other.capture_stats().unwrap();
        assert_eq!((stats.captured, stats.replays), (0, 0));
        let refused = stats.plain.keys().any(|why| why.contains("not supported"));
        assert!(refused, "{stats:?}");
        let why = stats.refused.as_deref().unwrap_or_default();
        assert!(why.contains("not supported"), "{stats:?}");
        // 8 steps of clients alone, 3 of the group, 3 of those that are not full.
        let steps = if group == 1 { 8 } else { 4 };
        let counted = stats.plain.values().sum::<u64>();
        assert_eq!(counted, 7 * steps, "{stats:?}");
    }
}

#[test]
fn a_step_that_has_to_be_recorded_and_is_not_ends_the_run() {
    let mut simulation = simulation(&scaffold(), 1);
    simulation.main_device.step_cache = Some(StepCache::new(GraphCapture::Require));
    let ends = (0..5).find_map(|_| simulation.run_round().err());
    assert!(
        matches!(ends, Some(RunError::Exec(ExecError::NotReplayed(_)))),
        "{ends:?}"
    );
}
