//! The costs of a graph as text.

use std::fmt::Write;

use fedround_ir::tensor::Graph;

use super::number_format;
use crate::tensor::{Cost, NodeCost};

/// The costs of a graph as a table, a node a line, with the totals above it.
pub fn cost_table(name: &str, graph: &Graph, cost: &Cost) -> String {
    let mut text = format!(
        "cost @{name}: {}, {} read, {} written, peak {}\n",
        number_format::flops(cost.flops),
        number_format::bytes(cost.read),
        number_format::bytes(cost.written),
        number_format::bytes(cost.peak),
    );
    let columns = ["FLOPs", "read", "written", "live"];
    let head = columns.map(|column| format!("{column:>10}")).concat();
    // Writing to a `String` cannot fail.
    _ = writeln!(text, "{head}  op");
    for (node, cost) in graph.nodes.iter().zip(&cost.nodes) {
        let NodeCost {
            flops,
            read,
            written,
            live,
        } = *cost;
        let results: Vec<String> = node
            .outs
            .iter()
            .map(|v| graph.type_of(*v).to_string())
            .collect();
        _ = writeln!(
            text,
            "{:>10}{:>10}{:>10}{:>10}  {} : {}",
            number_format::count(flops),
            number_format::bytes(read),
            number_format::bytes(written),
            number_format::bytes(live),
            node.op.name(),
            results.join(", "),
        );
    }
    text
}
