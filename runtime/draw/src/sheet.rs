//! A tensor graph that is to be drawn.

use fedround_ir::tensor::{Graph, Val};
use fedround_passes::lowering::output_name::is_loss;

/// A named tensor graph, with memory slots if it is drawn as a plan.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// Name in the text forms, such as `step0`.
    pub name: String,
    /// The graph.
    pub graph: Graph,
    /// For a plan, the slot of each value; `None` for one that is never read.
    pub slots: Option<Vec<Option<usize>>>,
}

/// The part of a training step that a node belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The loss depends on the node.
    Forward,
    /// The node computes gradients.
    Backward,
    /// The node computes an output other than a loss, such as the new parameters, or only
    /// such nodes read it and the forward pass has no part in it, as in a velocity times its decay.
    Update,
}

impl Sheet {
    /// The slot of a value, in a plan.
    pub(crate) fn slot(&self, val: Val) -> Option<usize> {
        *self.slots.as_ref()?.get(val.0 as usize)?
    }

    /// The phase of each node; all are [`Phase::Forward`] in a graph without a training loss.
    pub fn phases(&self) -> Vec<Phase> {
        let graph = &self.graph;
        let mut of_loss = vec![false; graph.types.len()];
        for (name, val) in &graph.outputs {
            of_loss[val.0 as usize] |= is_loss(name);
        }
        let trains = of_loss.contains(&true);
        let mut phases = vec![Phase::Forward; graph.nodes.len()];
        for (node, phase) in graph.nodes.iter().zip(&mut phases).rev() {
            let gives = |(name, v): &(String, Val)| !is_loss(name) && node.outs.contains(v);
            if trains && graph.outputs.iter().any(gives) {
                // Fused with a part of the loss or not.
                *phase = Phase::Update;
            } else if node.outs.iter().any(|v| of_loss[v.0 as usize]) {
                for v in &node.ins {
                    of_loss[v.0 as usize] = true;
                }
            } else if trains {
                *phase = Phase::Backward;
            }
        }
        if trains {
            complete_update(graph, &of_loss, &mut phases);
        }
        phases
    }

    /// Names of the inputs by value, without their argument's number where that is not needed to
    /// tell them apart: `features.fc1.weight` for `in0.features.fc1.weight`.
    pub(crate) fn input_names(&self) -> Vec<Option<&str>> {
        let mut names = vec![None; self.graph.types.len()];
        let short = |name: &'_ str| -> Option<usize> {
            let (argument, rest) = name.split_once('.')?;
            let number = argument.strip_prefix("in")?;
            let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
            (is_number && !rest.is_empty()).then_some(argument.len() + 1)
        };
        for (name, val) in &self.graph.inputs {
            let tail = short(name).map_or(name.as_str(), |from| &name[from..]);
            let ends = |other: &str| short(other).map_or(other, |from| &other[from..]) == tail;
            let twins = self.graph.inputs.iter().filter(|(n, _)| ends(n)).count();
            names[val.0 as usize] = Some(if twins > 1 { name } else { tail });
        }
        names
    }
}

/// Moves nodes from the backward pass to the update that depend on no node of the forward pass, and that no
/// node of the backward pass reads.
fn complete_update(graph: &Graph, of_loss: &[bool], phases: &mut [Phase]) {
    let at = |v: &Val| v.0 as usize;
    // The values that depend on a node of the forward pass.
    let mut after = vec![false; graph.types.len()];
    for node in &graph.nodes {
        let forward = node.outs.iter().any(|v| of_loss[at(v)]);
        let depends = forward || node.ins.iter().any(|v| after[at(v)]);
        node.outs.iter().for_each(|v| after[at(v)] = depends);
    }
    // Those that a node of the backward pass reads.
    let mut read = vec![false; graph.types.len()];
    for (node, phase) in graph.nodes.iter().zip(phases).rev() {
        if *phase != Phase::Backward {
            continue;
        }
        if node.outs.iter().any(|v| after[at(v)] || read[at(v)]) {
            node.ins.iter().for_each(|v| read[at(v)] = true);
        } else {
            *phase = Phase::Update;
        }
    }
}
