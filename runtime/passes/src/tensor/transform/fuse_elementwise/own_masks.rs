//! Comparisons that several passes need are computed in each of them.
//!
//! Fused code neither stores masks nor reads stored ones. The mask of a leaky ReLU is read by the activation
//! and by its gradient, and layers stand between the two, so that no pass holds all of its readers. To compare
//! again costs a step in a pass that walks the tensor anyway; a stored mask costs both passes.

use std::collections::HashMap;

use fedround_ir::Loc;
use fedround_ir::tensor::{Cmp, DType, Graph, GraphError, Node, Op, Val};

use super::super::dce::dce;
use super::super::rewrite::{Growing, Rewrite};
use super::groups::{groups_with_masks, shape_of, without_stored_masks};

/// The group of each node of a graph, which has copies of comparisons where that makes whole groups.
///
/// # Errors
///
/// The graph is not well formed.
pub(super) fn groups(graph: Graph) -> Result<(Graph, Vec<usize>), GraphError> {
    let found = groups_with_masks(&graph);
    let (graph, found) = match own_masks(&graph, &found)? {
        Some(copied) => copied,
        None => (graph, found),
    };
    let groups = without_stored_masks(&graph, &found);
    Ok((graph, groups))
}

/// Gives each group that reads comparisons of other groups copies of its own; `None` if there is no such
/// group. `group` has the group of each node.
///
/// The groups stay without cycles: a group that reads a mask comes after the group that makes it and so
/// after what is compared there.
fn own_masks(graph: &Graph, group: &[usize]) -> Result<Option<(Graph, Vec<usize>)>, GraphError> {
    let comparisons = comparisons(graph);
    // The shapes have to be equal for the copy to be in the pass of its reader.
    let is_foreign = |i: usize, mask: &Val| {
        comparisons.get(mask).is_some_and(|&from| {
            let [own, of_mask] = [i, from].map(|i| shape_of(graph, &graph.nodes[i]));
            group[from] != group[i] && own.is_some() && own == of_mask
        })
    };
    let mut nodes = graph.nodes.iter().enumerate();
    if !nodes.any(|(i, node)| node.ins.iter().any(|v| is_foreign(i, v))) {
        return Ok(None);
    }
    let mut copies: HashMap<(Val, usize), Val> = HashMap::new();
    // For each mask of a leaky ReLU, its result.
    let mut rectified: HashMap<Val, Val> = HashMap::new();
    let mut groups: HashMap<Val, usize> = HashMap::new();
    let new = Rewrite::run(graph, |rewrite, mut node| {
        let i = rewrite.at;
        let (before, own) = (&graph.nodes[i], group[i]);
        for (v, mask) in node.ins.iter_mut().zip(&before.ins) {
            if !is_foreign(i, mask) {
                continue;
            }
            *v = match copies.get(&(*mask, own)) {
                Some(copy) => *copy,
                None => {
                    let copied =
                        copy(&mut rewrite.new, *v, rectified.get(mask).copied(), node.loc)?;
                    copies.insert((*mask, own), copied);
                    groups.insert(copied, own);
                    copied
                }
            };
        }
        let leaky = is_leaky(&rewrite.new, &node) && !is_foreign(i, &before.ins[0]);
        let outs = rewrite.keep(node)?;
        if leaky {
            rectified.insert(before.ins[0], outs[0]);
        }
        groups.extend(outs.iter().map(|v| (*v, own)));
        Ok(outs)
    })?;
    let new = dce(&new);
    // Each group has the number of its first node again.
    let mut first = HashMap::new();
    let nodes = new.nodes.iter().enumerate();
    let number = |(i, node): (usize, &Node)| {
        let own = node.outs.first().and_then(|v| groups.get(v));
        own.map_or(i, |own| *first.entry(*own).or_insert(i))
    };
    let numbers = nodes.map(number).collect();
    Ok(Some((new, numbers)))
}

/// The comparisons of floats, each with its node.
fn comparisons(graph: &Graph) -> HashMap<Val, usize> {
    let floats = |node: &Node| {
        let mut ins = node.ins.iter();
        ins.all(|v| graph.type_of(*v).dtype == DType::F32)
    };
    let nodes = graph.nodes.iter().enumerate();
    let compared = nodes.filter(|(_, node)| {
        matches!(node.op, Op::Compare(_) | Op::CompareScalar(..)) && floats(node)
    });
    compared.map(|(i, node)| (node.outs[0], i)).collect()
}

/// Compares again: what was compared, or else a value that is above zero at the same places.
fn copy(graph: &mut Growing, mask: Val, sign_of: Option<Val>, loc: Loc) -> Result<Val, GraphError> {
    let Some(node) = graph.producer(mask).cloned() else {
        return Ok(mask);
    };
    let of = sign_of.map_or(node.ins, |y| vec![y]);
    Ok(graph.push(node.op, &of, loc)?)
}

/// Whether a node is `x where x > 0, else c · x` with `c ≥ 0`. This is above zero exactly where `x` is, and a
/// later layer keeps it for its own gradient, which `x` would be kept in addition to.
fn is_leaky(graph: &Growing, node: &Node) -> bool {
    let (Op::Where, &[mask, x, below]) = (&node.op, node.ins.as_slice()) else {
        return false;
    };
    let of_x = |v: Val, is: fn(&Op) -> bool| {
        let producer = graph.producer(v);
        producer.is_some_and(|node| is(&node.op) && node.ins == [x])
    };
    of_x(
        mask,
        |op| matches!(op, Op::CompareScalar(Cmp::Greater, c) if *c == 0.0),
    ) && of_x(below, |op| matches!(op, Op::MulScalar(c) if *c >= 0.0))
}

#[cfg(test)]
mod tests {
    use super::super::fuse_elementwise;
    use super::*;
    use fedround_ir::tensor::TensorType;

    /// A leaky ReLU before a layer, and the gradient of both.
    fn leaky(slope: f64) -> Graph {
        let mut graph = Graph::default();
        let (x, w) = (
            graph.input("x", TensorType::f32([3, 3])),
            graph.input("w", TensorType::f32([3, 3])),
        );
        let mut op = |op: Op, ins: &[Val]| graph.push(op, ins, Loc::caller()).unwrap();
        let x = op(Op::MatMul, &[x, w]);
        let below = op(Op::MulScalar(slope), &[x]);
        let mask = op(Op::CompareScalar(Cmp::Greater, 0.0), &[x]);
        let y = op(Op::Where, &[mask, x, below]);
        let g = op(Op::MatMul, &[y, w]);
        let zero = op(Op::Full(0.0, vec![1, 1]), &[]);
        let above = op(Op::Where, &[mask, g, zero]);
        let under = op(Op::Where, &[mask, zero, g]);
        let under = op(Op::MulScalar(slope), &[under]);
        let sum = op(Op::Add, &[above, under]);
        graph.outputs.push(("sum".into(), sum));
        graph
    }

    fn fused(graph: &Graph) -> (Graph, Vec<&'static str>) {
        let fused = fuse_elementwise(graph).unwrap();
        fused.verify().unwrap();
        let names = fused.nodes.iter().map(|n| n.op.name()).collect();
        (fused, names)
    }

    #[test]
    fn a_leaky_relu_is_a_pass_and_its_gradient_another() {
        for slope in [0.01, -0.01] {
            let (fused, names) = fused(&leaky(slope));
            assert_eq!(names, ["matmul", "fused", "matmul", "full", "fused"]);
            let passes = fused.nodes.iter().filter(|n| n.op.name() == "fused");
            let passes: Vec<&Node> = passes.collect();
            let [forward, backward] = passes[..] else {
                panic!("{names:?}");
            };
            // Only the result tells the sign, and only of a slope that keeps it.
            let y = backward.ins.contains(&forward.outs[0]);
            let x = backward.ins.contains(&forward.ins[0]);
            assert_eq!((y, x), (slope > 0.0, slope < 0.0));
        }
    }

    #[test]
    fn a_function_of_a_leaky_relu_is_in_its_pass() {
        let mut graph = leaky(0.01);
        let y = graph.nodes[3].outs[0];
        let tanh = graph.push(Op::Tanh, &[y], Loc::caller()).unwrap();
        graph.outputs.push(("tanh".into(), tanh));
        let (_, names) = fused(&graph);
        assert_eq!(names, ["matmul", "full", "fused", "matmul", "fused"]);
    }

    #[test]
    fn what_is_no_pass_reads_the_mask_that_is_there() {
        let mut graph = leaky(0.01);
        let mask = graph.nodes[2].outs[0];
        let x = graph.nodes[0].outs[0];
        let mut op = |op: Op, ins: &[Val]| graph.push(op, ins, Loc::caller()).unwrap();
        let turned = op(Op::Permute(vec![1, 0]), &[mask]);
        let other = op(Op::Where, &[turned, x, x]);
        graph.outputs.push(("other".into(), other));
        let (_, names) = fused(&graph);
        let count = |name: &str| names.iter().filter(|n| **n == name).count();
        assert_eq!(
            (count("compare_scalar"), count("where")),
            (1, 2),
            "{names:?}"
        );
    }
}
