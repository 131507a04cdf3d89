//! The benchmark tasks against an independent PyTorch loop.
//!
//! Expected values: `tests/reference/fedavg_torch.py --task T --rounds N` (PyTorch 2.15, CPU), the
//! eager reference that follows the same protocol. Few rounds keep this test short; after the
//! tasks' default rounds the figures agree as closely (`docs/benchmarks/cpu.md`). The baselines'
//! laws against theirs are in `tests/programs/trajectories.rs`.

use assert_cmd::Command;
use serde_json::Value;

use crate::support::{program, real};

/// Task, rounds, then `params_l2` and `test_loss` of the reference.
const REFERENCE: [(&str, u32, f64, f64); 5] = [
    ("lr-mnist", 10, 2.259982, 1.232432),
    ("2nn-mnist", 2, 11.938831, 2.283216),
    ("cnn-mnist", 1, 14.422125, 2.287405),
    ("lenet-cifar10", 2, 8.916102, 2.306679),
    ("pfl-cifar10", 1, 8.861096, 2.287739),
];

#[test]
fn bench_tasks_equal_the_pytorch_reference() {
    let Some(data) = real(&["mnist", "cifar-10-batches-bin"]) else {
        return;
    };
    for (task, rounds, params_l2, test_loss) in REFERENCE {
        let output = Command::new(program())
            .args([
                "bench",
                "--task",
                task,
                "--rounds",
                &rounds.to_string(),
                "--data-dir",
            ])
            .arg(&data)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        for (name, expected) in [("params_l2", params_l2), ("test_loss", test_loss)] {
            let found = report[name].as_f64().unwrap();
            let close = (found - expected).abs() <= 1e-5 * expected;
            assert!(
                close,
                "{task}: {name} is {found}, the reference has {expected}"
            );
        }
    }
}
