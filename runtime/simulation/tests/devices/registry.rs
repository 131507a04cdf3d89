//! Every bundled algorithm trains on every device as on the CPU.

use std::collections::BTreeSet;
use std::time::Instant;

use fedround_algorithms::registry;
use fedround_exec::Device;
use fedround_simulation::CohortBatch;

use crate::cases::{CASES, Case, SIZES, Trained};
use crate::devices;

/// Algorithms whose training on wgpu is known to part from the CPU's, with what is known of it. The
/// test prints the difference and goes on.
const PARTS_ON_WGPU: &[(&str, &str)] = &[(
    "fedfed",
    "since burn 0.22.1 the first round of training with shared features differs by 1 %",
)];

/// Where a device differs from the CPU by more than the tolerance. Where clients' steps can be
/// batched, all clients run in one graph.
fn compare(case: &Case, device: Device) -> Option<(&'static str, Device, String)> {
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
    let said = |wrong| format!("{} {:?} on {device}: {wrong}", case.0, case.1);
    wrong.map(|wrong| (case.0, device, said(wrong)))
}

#[test]
fn every_algorithm_has_a_case() {
    let tested: BTreeSet<&str> = CASES.iter().map(|case| case.0).collect();
    assert_eq!(tested, registry().names().into_iter().collect());
}

#[test]
fn every_algorithm_trains_the_same_model_on_every_device() {
    let others = devices().into_iter().filter(|d| *d != Device::Cpu);
    let compared = |device| CASES.iter().filter_map(move |case| compare(case, device));
    let wrong = others.flat_map(compared);
    let known = |(name, device, _): &(&str, Device, _)| {
        let parts = PARTS_ON_WGPU.iter().any(|(parts, _)| parts == name);
        parts && matches!(device, Device::Wgpu(_))
    };
    let (known, wrong): (Vec<_>, Vec<_>) = wrong.partition(known);
    for (_, _, difference) in &known {
        println!("known: {difference}");
    }
    let wrong: Vec<String> = wrong
        .into_iter()
        .map(|(_, _, difference)| difference)
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
