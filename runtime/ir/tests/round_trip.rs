//! Graphs of every op come back from their text.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at its first error"
)]

mod support;

use std::collections::BTreeSet;

use fedround_ir::tensor::{Graph, Op, difference, parse};
use proptest::prelude::*;

fn text(graph: &Graph) -> String {
    format!("// fedround tensor v1\n{}", graph.exact_text("step"))
}

proptest! {
    #[test]
    fn a_graph_comes_back(seed: u64, size in 0_usize..60) {
        let graph = support::graph(seed, size);
        graph.verify().unwrap();
        let printed = text(&graph);
        let (name, read) = parse(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}")).remove(0);
        prop_assert_eq!(difference(&graph, &read), None);
        prop_assert_eq!((text(&read), name.as_str()), (printed, "step"));
    }
}

#[test]
fn every_op_is_tried() {
    let seen: BTreeSet<&str> = (0..100)
        .flat_map(|seed| support::graph(seed, 40).nodes)
        .map(|node| node.op.name())
        .collect();
    let missing: Vec<&&str> = Op::NAMES
        .iter()
        .filter(|name| !seen.contains(**name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
