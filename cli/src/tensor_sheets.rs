//! A program's tensor graphs, as they are drawn.

use fedround_draw::Sheet;
use fedround_exec::executor::Plan;
use fedround_exec::{CompileError, Program};
use fedround_ir::tensor::Graph;

/// The tensor graph of each segment for a batch size, with its slots if it is drawn as a plan.
pub(crate) fn sheets(
    program: &Program,
    batch: usize,
    as_plan: bool,
) -> Result<Vec<Sheet>, CompileError> {
    let graphs = program.graphs(batch)?.into_iter().enumerate();
    let sheets = graphs.map(|(i, graph)| Sheet {
        name: program.segment_name(i),
        slots: as_plan.then(|| slots(&graph)),
        graph,
    });
    Ok(sheets.collect())
}

/// The slot of each value in the graph's plan.
fn slots(graph: &Graph) -> Vec<Option<usize>> {
    let plan = Plan::new(graph);
    let mut slots = vec![None; graph.types.len()];
    for ((_, v), (_, _, slot)) in graph.inputs.iter().zip(&plan.inputs) {
        slots[v.0 as usize] = *slot;
    }
    for (node, instr) in graph.nodes.iter().zip(&plan.instrs) {
        for (v, slot) in node.outs.iter().zip(&instr.outs) {
            slots[v.0 as usize] = *slot;
        }
    }
    slots
}
