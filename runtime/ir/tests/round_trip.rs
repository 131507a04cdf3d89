//! Graphs of every op come back from their text.

use std::collections::BTreeSet;

use crate::support;
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

#[test]
fn the_documented_texts_are_sound() {
    let guide = include_str!("../../../docs/ir.md");
    let blocks = guide.split("```mlir\n").skip(1);
    let texts: Vec<&str> = blocks
        .map(|block| block.split("```").next().unwrap())
        .collect();
    assert_eq!(texts.len(), 2);
    for text in texts {
        fedround_ir::text::parse(text).unwrap_or_else(|error| panic!("{error}"));
    }
}
