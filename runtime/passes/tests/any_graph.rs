//! Passes take any sound graph, not only what specs lower to.

use fedround_ir::tensor::Graph;
use fedround_passes::{PassManager, Request};

use crate::support;

#[test]
fn every_pass_leaves_a_sound_graph() {
    let mut failed: Vec<String> = Vec::new();
    for seed in 0..100 {
        for pass in [
            "pool-first",
            "fold",
            "cse",
            "dce",
            "sink-views",
            "lift-expands",
            "join-products",
            "fuse",
            "fuse-elementwise",
            "plane-sums",
            "early-updates",
            "rematerialize",
            "one-hot",
            "scale-first",
            "join-sums",
            "channel-rows",
            "known-sums",
            "channel-sums",
            "recompute",
            "sink-reshapes",
            "fusion-order",
            "batch-clients=3",
        ] {
            let mut graph = support::graph(seed, 30);
            let request = Request::<Graph>::named(pass).unwrap();
            if let Err(error) = PassManager::new().run(&request, "any", &mut graph) {
                failed.push(format!("{pass}, seed {seed}: {error}"));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
