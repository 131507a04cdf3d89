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
    for instr in &plan.instrs {
        for (v, slot) in instr.results.iter().zip(&instr.outs) {
            slots[v.0 as usize] = *slot;
        }
    }
    slots
}

#[cfg(test)]
mod tests {
    use fedround_exec::Target;
    use fedround_passes::PassManager;

    use super::super::args::Subject;
    use super::*;
    use crate::catalog::Catalog;

    /// FedProx's updates of weights are a fused op and a product, which the plan joins.
    #[test]
    fn results_after_a_join_are_drawn_where_the_plan_has_them() {
        let subject = Subject {
            reading: Default::default(),
            spec: "fedprox".to_owned(),
            model: "2nn".to_owned(),
            train: Default::default(),
            aux: vec![],
            data: "synth-digits".to_owned(),
            clients: 10,
            set: vec![],
        };
        let (target, mut passes) = (Target::default(), PassManager::default());
        let compiled = Catalog::default().compile(&subject, target, &mut passes);
        let sheets = sheets(&compiled.unwrap().program, 10, true).unwrap();
        let joined = |sheet: &&Sheet| {
            let plan = Plan::new(&sheet.graph);
            plan.instrs.len() < sheet.graph.nodes.len()
        };
        let sheet = sheets.iter().find(joined).expect("a plan with a join");
        let (plan, slots) = (Plan::new(&sheet.graph), sheet.slots.as_ref().unwrap());
        for ((_, value), (name, read)) in sheet.graph.outputs.iter().zip(&plan.outputs) {
            assert_eq!(slots[value.0 as usize], Some(read.slot), "{name}");
        }
    }
}
