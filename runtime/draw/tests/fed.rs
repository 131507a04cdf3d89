//! Drawings of FedAvg, FedProx and an algorithm with state on both sides.

#![allow(clippy::unwrap_used, reason = "a test stops at its first error")]

#[path = "../../dsl/tests/common/mod.rs"]
#[allow(missing_docs)]
mod specs;

use fedround::stage;
use fedround_draw::{dot, json, svg};
use fedround_ir::fed::Module;
use fedround_passes::fed::link;
use specs::{FedAvg, FedProx};

fn modules() -> Vec<(String, Module)> {
    let fed_prox = FedProx {
        base: FedAvg::default(),
        mu: 0.1,
    };
    let algorithms: [(&str, &dyn fedround::Algorithm); 2] =
        [("fed_avg", &FedAvg::default()), ("fed_prox", &fed_prox)];
    let mut all = vec![];
    for (name, algorithm) in algorithms {
        let staged = stage(algorithm).unwrap();
        all.push((
            format!("{name}.linked"),
            link(staged.clone()).unwrap().module,
        ));
        all.push((format!("{name}.fed"), staged));
    }
    all
}

#[test]
fn write_all() {
    for (name, module) in modules() {
        std::fs::write(
            format!("/tmp/drawtmp/{name}.svg"),
            svg::module(&module, Some(199_210)),
        )
        .unwrap();
        std::fs::write(format!("/tmp/drawtmp/{name}.dot"), dot::module(&module)).unwrap();
        std::fs::write(
            format!("/tmp/drawtmp/{name}.json"),
            json::module(&module).to_string(),
        )
        .unwrap();
    }
}
