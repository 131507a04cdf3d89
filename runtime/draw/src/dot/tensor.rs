//! Tensor graphs in the dot language.

use std::fmt::Write;

use fedround_ir::tensor::Op;

use super::{ends, head, quoted};
use crate::attributes::label_lines;
use crate::{Phase, Sheet};

/// Tensor graphs, or plans: a node is an op with the type, and in a plan the slot, of its result.
pub fn sheets(sheets: &[Sheet]) -> String {
    let name = sheets.first().map_or("empty", |sheet| &sheet.name);
    let mut out = head(name);
    for (index, sheet) in sheets.iter().enumerate() {
        // Writing to a `String` cannot fail.
        _ = writeln!(
            out,
            "  subgraph cluster_{index} {{ label={}; color=\"#9aa5b1\"; labeljust=l;",
            quoted(&sheet.name)
        );
        out += &body(index, sheet);
        out += "  }\n";
    }
    out + "}\n"
}

/// The numbers at an edge's ends, if it has any.
fn attributes(result: Option<usize>, operand: Option<usize>) -> String {
    match ends(result, operand).strip_prefix(", ") {
        Some(ends) => format!(" [{ends}]"),
        None => String::new(),
    }
}

fn body(index: usize, sheet: &Sheet) -> String {
    let graph = &sheet.graph;
    let mut out = String::new();
    let mut from = vec![(String::new(), None); graph.types.len()];
    for (i, (name, val)) in graph.inputs.iter().enumerate() {
        let id = format!("g{index}_in{i}");
        let text = format!("{name}\n{}", graph.type_of(*val));
        _ = writeln!(out, "    {id} [label={}, shape=ellipse];", quoted(&text));
        from[val.0 as usize].0 = id;
    }
    let phases = sheet.phases();
    for (phase, title, fill) in [
        (Phase::Forward, "forward", "#eef3fa"),
        (Phase::Backward, "backward", "#fbf3e6"),
        (Phase::Update, "update", "#f0f6ed"),
    ] {
        if !phases.contains(&phase) {
            continue;
        }
        _ = writeln!(
            out,
            "    subgraph cluster_{index}_{title} {{ label=\"{title}\"; style=\"rounded,filled\"; fillcolor=\"{fill}\"; color=\"#c3cbd4\"; labeljust=l;"
        );
        for (i, node) in graph.nodes.iter().enumerate() {
            if phases[i] != phase {
                continue;
            }
            let mut text = label_lines(&node.op).join("\n");
            for v in &node.outs {
                text += &format!("\n{}", graph.type_of(*v));
                if let Some(slot) = sheet.slot(*v) {
                    text += &format!(" in s{slot}");
                }
            }
            _ = writeln!(out, "      g{index}_n{i} [label={}];", quoted(&text));
        }
        out += "    }\n";
    }
    for (i, node) in graph.nodes.iter().enumerate() {
        for (result, v) in node.outs.iter().enumerate() {
            let result = (node.outs.len() > 1).then_some(result);
            from[v.0 as usize] = (format!("g{index}_n{i}"), result);
        }
        let commutes = matches!(node.op, Op::Add | Op::Mul | Op::Dot | Op::And | Op::Or);
        for (operand, v) in node.ins.iter().enumerate() {
            let (from, result) = &from[v.0 as usize];
            let operand = (node.ins.len() > 1 && !commutes).then_some(operand);
            let attributes = attributes(*result, operand);
            _ = writeln!(out, "    {from} -> g{index}_n{i}{attributes};");
        }
    }
    for (i, (name, val)) in graph.outputs.iter().enumerate() {
        let id = format!("g{index}_out{i}");
        _ = writeln!(out, "    {id} [label={}, shape=ellipse];", quoted(name));
        let (from, result) = &from[val.0 as usize];
        let attributes = attributes(*result, None);
        _ = writeln!(out, "    {from} -> {id}{attributes};");
    }
    out
}
