//! Passes take any sound graph, not only what specs lower to.

use fedround_ir::tensor::Graph;
use fedround_passes::{PassManager, PassTarget, Request};

use crate::support;

#[test]
fn every_pass_leaves_a_sound_graph() {
    let mut failed: Vec<String> = Vec::new();
    for seed in 0..100 {
        for pass in Graph::passes() {
            let number = pass.number.map_or("", |_| "=3");
            let pass = format!("{}{number}", pass.name);
            let mut graph = support::graph(seed, 30);
            let request = Request::<Graph>::named(&pass).unwrap();
            if let Err(error) = PassManager::new().run(&request, "any", &mut graph) {
                failed.push(format!("{pass}, seed {seed}: {error}"));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
