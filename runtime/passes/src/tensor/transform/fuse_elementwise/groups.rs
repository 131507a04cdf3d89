//! Groups element-wise operations that share one pass over memory, and orders the groups.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use fedround_ir::tensor::{DType, Graph, Node, Op, Val};

use super::super::def_use::{makers, readers};
use super::acyclic_groups::{AcyclicGroups, Edge};

/// The elements of a tensor that does not stay in a first-level cache from one op to the next. Only of
/// such a one is a sum over some dimensions worth a place in a pass, and a repeated operand a pass of its own.
pub(crate) const LARGE: usize = 1 << 14;

/// The shape over which a node can be fused, if it can.
pub(super) fn shape_of<'g>(graph: &'g Graph, node: &Node) -> Option<&'g [usize]> {
    let floats = |v: &Val| matches!(graph.type_of(*v).dtype, DType::F32 | DType::Bool);
    match node.op {
        // A sum runs over its operand's shape.
        Op::Sum | Op::Dot => Some(graph.shape(node.ins[0])),
        Op::SumDim(0) => {
            let ty = graph.type_of(node.ins[0]);
            (ty.dtype == DType::F32 && ty.len() >= LARGE).then_some(&ty.shape[..])
        }
        _ if node.op.is_elementwise() && node.ins.iter().all(floats) => {
            let shape = graph.shape(node.outs[0]);
            let repeats = node.ins.iter().all(|v| in_one_run(graph.shape(*v), shape));
            repeats.then_some(shape)
        }
        _ => None,
    }
}

/// Whether a node is a sum, which is complete only after a pass.
pub(super) fn is_sum(node: &Node) -> bool {
    matches!(node.op, Op::Sum | Op::Dot | Op::SumDim(_))
}

/// Whether an op that stays alone is worth a pass: it repeats an operand, such as a bias or a mean of
/// each channel, over a large result. A pass fills blocks with repeated values; burn's op walks by strides.
pub(super) fn repeats_over_large(graph: &Graph, node: &Node) -> bool {
    let Some(shape) = shape_of(graph, node).filter(|_| !is_sum(node)) else {
        return false;
    };
    let len = |v: &Val| graph.type_of(*v).len();
    let repeated = |v: &Val| len(v) > 1 && graph.shape(*v) != shape;
    let masks = || node.ins.iter().chain(&node.outs);
    node.ins.iter().any(repeated)
        && len(&node.outs[0]) >= LARGE
        && masks().all(|v| graph.type_of(*v).dtype == DType::F32)
}

/// Whether a shape repeats to another such that the dimensions that do not are neighbours, as the
/// kernels want it.
pub(crate) fn in_one_run(from: &[usize], to: &[usize]) -> bool {
    if from.len() != to.len() {
        return from == [1];
    }
    let kept = |i: &usize| from[*i] == to[*i] && to[*i] != 1;
    let (Some(first), Some(last)) = ((0..to.len()).find(kept), (0..to.len()).rfind(kept)) else {
        return true;
    };
    (first..=last).all(|i| from[i] == to[i])
}

/// For each node, the group that it is in: the index of the group's first node. Masks may be stored.
pub(super) fn groups_with_masks(graph: &Graph) -> Vec<usize> {
    let makers = makers(graph);
    let shapes: Vec<Option<&[usize]>> = graph.nodes.iter().map(|n| shape_of(graph, n)).collect();
    let reads = |node: &Node| {
        let ins = node.ins.iter();
        ins.filter_map(|v| makers[v.0 as usize]).collect()
    };
    let reads: Vec<Vec<usize>> = graph.nodes.iter().map(reads).collect();
    let mut merged = AcyclicGroups::new(&reads);
    // Nodes that read a value, one for each group and no others.
    let mut siblings: HashMap<Val, Vec<usize>> = HashMap::new();
    for (i, node) in graph.nodes.iter().enumerate() {
        let Some(shape) = shapes[i] else {
            continue;
        };
        // Ops that read one tensor are worth one pass too, as `w − w₀` and `w − η g` are; those that
        // read one number would only wait for each other.
        let whole = |v: &&Val| graph.shape(**v) == shape && graph.type_of(**v).len() > 1;
        let mut candidates: Vec<usize> = reads[i].clone();
        for v in node.ins.iter().filter(whole) {
            let siblings = siblings.entry(*v).or_default();
            distinct(siblings, |j| merged.first(j));
            candidates.extend(&*siblings);
            siblings.push(i);
        }
        distinct(&mut candidates, |j| merged.first(j));
        for other in candidates {
            let of_sum = |(from, _): Edge| is_sum(&graph.nodes[from]);
            if shapes[other] == Some(shape) {
                merged.merge(i, other, of_sum);
            }
        }
    }
    (0..graph.nodes.len()).map(|i| merged.first(i)).collect()
}

/// Takes apart the groups that store a mask or read a stored one, which fused code does not.
pub(super) fn without_stored_masks(graph: &Graph, group: &[usize]) -> Vec<usize> {
    let (makers, readers) = (makers(graph), readers(graph));
    let outputs: HashSet<Val> = graph.outputs.iter().map(|(_, v)| *v).collect();
    let masks = |i: usize| {
        let node = &graph.nodes[i];
        let is_mask = |v: &&Val| graph.type_of(**v).dtype == DType::Bool;
        let stored = node.outs.iter().filter(is_mask).any(|v| {
            let mut read = readers[v.0 as usize].iter();
            read.any(|&j| group[j] != group[i]) || outputs.contains(v)
        });
        let read = node.ins.iter().filter(is_mask).any(|v| {
            let from = makers[v.0 as usize].map(|maker| group[maker]);
            from != Some(group[i])
        });
        stored || read
    };
    let apart: HashSet<usize> = (0..group.len())
        .filter(|&i| masks(i))
        .map(|i| group[i])
        .collect();
    let whole = group.iter().enumerate();
    whole
        .map(|(i, &g)| if apart.contains(&g) { i } else { g })
        .collect()
}

/// Replaces nodes by the first ones of their groups, each once.
fn distinct(nodes: &mut Vec<usize>, mut first: impl FnMut(usize) -> usize) {
    nodes.iter_mut().for_each(|j| *j = first(*j));
    nodes.sort_unstable();
    nodes.dedup();
}

/// Groups and single nodes in an order in which each comes after what it reads; ties keep the
/// graph's order.
pub(super) fn order(graph: &Graph, group: &[usize]) -> Vec<Vec<usize>> {
    let makers = makers(graph);
    let mut units: Vec<Vec<usize>> = vec![vec![]; graph.nodes.len()];
    for (i, &g) in group.iter().enumerate() {
        units[g].push(i);
    }
    // Placing a unit where its last member was keeps values short-lived.
    let mut pending: Vec<usize> = (0..units.len()).filter(|&g| !units[g].is_empty()).collect();
    pending.sort_by_key(|&g| units[g].last().copied());
    let mut place = vec![0; units.len()];
    pending
        .iter()
        .enumerate()
        .for_each(|(at, &g)| place[g] = at);
    let mut waiting = vec![0; units.len()];
    let mut readers = vec![vec![]; units.len()];
    for (i, node) in graph.nodes.iter().enumerate() {
        for maker in node.ins.iter().filter_map(|v| makers[v.0 as usize]) {
            if group[maker] != group[i] {
                readers[group[maker]].push(group[i]);
                waiting[group[i]] += 1;
            }
        }
    }
    // Of the units that are ready, the one that is first in the order.
    let ready = pending.iter().filter(|&&g| waiting[g] == 0);
    let mut ready: BinaryHeap<Reverse<usize>> = ready.map(|&g| Reverse(place[g])).collect();
    let mut order = vec![];
    while let Some(Reverse(at)) = ready.pop() {
        let unit = pending[at];
        for &reader in &readers[unit] {
            waiting[reader] -= 1;
            if waiting[reader] == 0 {
                ready.push(Reverse(place[reader]));
            }
        }
        order.push(std::mem::take(&mut units[unit]));
    }
    order
}

#[cfg(test)]
#[path = "groups_tests.rs"]
mod tests;
