//! Every bundled algorithm trains on every device as on the CPU.

use std::collections::BTreeSet;
use std::time::Instant;

use fedround_algorithms::registry;
use fedround_exec::Device;
use fedround_simulation::CohortBatch;

use crate::cases::{CASES, Case, SIZES, Trained};
use crate::gpus;

/// Where a device differs from the CPU by more than the tolerance. Where clients' steps can be
/// batched, all clients run in one graph.
fn compare(case: &Case, device: Device) -> Option<String> {
    let begun = Instant::now();
    let run = |device| {
        let all = CohortBatch::Clients(SIZES.len());
        Trained::of(case.simulation(device).with_cohort_batch(all), case.2)
    };
    let wrong = match run(device) {
        Ok(found) => case.differences(&found, &run(Device::Cpu).unwrap()),
        Err(error) => vec![error.to_string()],
    };
    println!("{:16} {device:8} {:.1?}", case.0, begun.elapsed());
    let wrong = (!wrong.is_empty()).then(|| wrong.join("; "));
    wrong.map(|wrong| format!("{} {:?} on {device}: {wrong}", case.0, case.1))
}

#[test]
fn every_algorithm_has_a_case() {
    let tested: BTreeSet<&str> = CASES.iter().map(|case| case.0).collect();
    assert_eq!(tested, registry().names().into_iter().collect());
}

#[test]
#[cfg_attr(
    not(any(feature = "wgpu", feature = "cuda")),
    ignore = "needs `--features wgpu` or `cuda`"
)]
fn every_algorithm_trains_the_same_model_on_every_device() {
    let compared = |device| CASES.iter().filter_map(move |case| compare(case, device));
    let wrong: Vec<String> = gpus().into_iter().flat_map(compared).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
