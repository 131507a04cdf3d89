//! `recompute`: each op that reads an elementwise function of inputs computes it itself.
//!
//! The difference of two models is read by a proximal term's value and by its gradient, for example.
//! Computed once, it is a kernel of its own, which writes as much as it reads. Computed in the kernels
//! of its readers it costs them a few reads.

use std::collections::HashMap;

use fedround_ir::tensor::{Graph, GraphError, Node, Op, Val};

use super::dce::dce;
use super::rewrite::{Growing, Rewrite};

/// The largest number of ops that are repeated.
const FEW: usize = 8;

/// Gives every op its own copy of what it reads, if few elementwise ops compute that from inputs.
///
/// # Errors
///
/// The graph is not well formed.
pub fn recompute(graph: &Graph) -> Result<Graph, GraphError> {
    let again = Rewrite::run(graph, |rewrite, mut node| {
        if !is_cheap(&rewrite.new, &node) {
            let mut copies = HashMap::new();
            for v in &mut node.ins {
                if is_chain(&rewrite.new, *v) {
                    *v = copy(&mut rewrite.new, *v, &mut copies)?;
                }
            }
        }
        rewrite.keep(node)
    })?;
    Ok(dce(&again))
}

/// Whether an op is elementwise, and so is all that it reads, down to inputs.
fn is_cheap(graph: &Growing, node: &Node) -> bool {
    let found = |v: &Val| is_given(graph, *v) || is_chain(graph, *v);
    node.op.is_elementwise() && node.ins.iter().all(found)
}

/// Whether a value is an input, a view of one, or one number.
pub(super) fn is_given(graph: &Growing, v: Val) -> bool {
    graph.type_of(v).len() == 1
        || match graph.producer(v) {
            None => true,
            Some(node) => matches!(node.op, Op::Reshape(_)) && is_given(graph, node.ins[0]),
        }
}

/// Whether few elementwise ops compute a value from what is given.
pub(super) fn is_chain(graph: &Growing, v: Val) -> bool {
    let mut left = FEW;
    !is_given(graph, v) && ends_at_inputs(graph, v, &mut left)
}

fn ends_at_inputs(graph: &Growing, v: Val, left: &mut usize) -> bool {
    if is_given(graph, v) {
        return true;
    }
    let producer = graph.producer(v).filter(|node| node.op.is_elementwise());
    let (Some(node), Some(fewer)) = (producer, left.checked_sub(1)) else {
        return false;
    };
    *left = fewer;
    node.ins.iter().all(|v| ends_at_inputs(graph, *v, left))
}

/// Computes a value of a chain again, and each value that it needs once.
fn copy(graph: &mut Growing, v: Val, copies: &mut HashMap<Val, Val>) -> Result<Val, GraphError> {
    if let Some(copied) = copies.get(&v) {
        return Ok(*copied);
    }
    let Some(node) = graph.producer(v).filter(|_| !is_given(graph, v)).cloned() else {
        return Ok(v);
    };
    let ins = node.ins.iter().map(|v| copy(graph, *v, copies));
    let ins = ins.collect::<Result<Vec<Val>, _>>()?;
    let copied = graph.push(node.op, &ins, node.loc)?;
    copies.insert(v, copied);
    Ok(copied)
}
