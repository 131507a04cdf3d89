//! `fuse-elementwise`: chains of elementwise ops become one [`Op::Fused`], which walks memory once.
//!
//! For devices whose backend does not fuse elementwise ops itself. A group is a set of elementwise
//! ops over one shape, and sums of their results over all elements or over the first dimension, that
//! some order of the graph runs one after the other: no op outside of the group both depends on it and
//! feeds it.

mod acyclic_groups;
mod group_order;
pub(super) mod groups;
mod own_masks;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use fedround_ir::tensor::{Fused, Graph, GraphError, Node, Op, Val};

use self::groups::{is_sum, order, repeats_over_large, shape_of};
use self::own_masks::groups;
use super::dce::dce;
use super::def_use::readers;

/// Fuses every group of at least two ops, and single ones that repeat an operand over a large result.
///
/// # Errors
///
/// The graph is not well formed.
pub fn fuse_elementwise(graph: &Graph) -> Result<Graph, GraphError> {
    // A group that nothing reads would have no result.
    let (graph, groups) = &groups(dce(graph))?;
    let order = order(graph, groups);
    let read = Read {
        by: readers(graph),
        outputs: graph.outputs.iter().map(|(_, v)| *v).collect(),
        groups,
    };
    let mut new = Graph::default();
    let mut map: Vec<Option<Val>> = vec![None; graph.types.len()];
    for (name, val) in &graph.inputs {
        map[val.0 as usize] = Some(new.input(name.clone(), graph.type_of(*val).clone()));
    }
    for unit in order {
        let nodes: Vec<&Node> = unit.iter().map(|&i| &graph.nodes[i]).collect();
        let (op, ins, outs) = match nodes.as_slice() {
            [node] if !repeats_over_large(graph, node) => {
                (node.op.clone(), node.ins.clone(), node.outs.clone())
            }
            _ => fused(graph, &unit, &read)?,
        };
        if outs.is_empty() {
            // Nothing reads what the group gives.
            continue;
        }
        let name = op.name();
        let ins = ins
            .iter()
            .map(|v| map[v.0 as usize].ok_or(GraphError::Undefined { op: name, val: *v }));
        let ins: Vec<Val> = ins.collect::<Result<_, _>>()?;
        let results = new.push_multi(op, &ins, nodes[0].loc)?;
        for (old, result) in outs.iter().zip(results) {
            map[old.0 as usize] = Some(result);
        }
    }
    for (name, val) in &graph.outputs {
        let op = "return";
        let result = map[val.0 as usize].ok_or(GraphError::Undefined { op, val: *val })?;
        new.outputs.push((name.clone(), result));
    }
    Ok(new)
}

/// Who reads the values of a graph.
struct Read<'a> {
    by: Vec<Vec<usize>>,
    outputs: HashSet<Val>,
    groups: &'a [usize],
}

impl Read<'_> {
    /// Whether a value is read outside of a group.
    fn outside(&self, group: usize, v: Val) -> bool {
        let mut by = self.by[v.0 as usize].iter();
        self.outputs.contains(&v) || by.any(|&i| self.groups[i] != group)
    }
}

/// The op that computes a group of nodes of one shape, what it reads and what it gives.
fn fused(
    graph: &Graph,
    unit: &[usize],
    read_by: &Read<'_>,
) -> Result<(Op, Vec<Val>, Vec<Val>), GraphError> {
    let nodes: Vec<&Node> = unit.iter().map(|&i| &graph.nodes[i]).collect();
    // Own values and inputs that are listed.
    let mut known: HashSet<Val> = nodes.iter().flat_map(|n| n.outs.iter().copied()).collect();
    let mut ins: Vec<Val> = vec![];
    for v in nodes.iter().flat_map(|n| &n.ins) {
        if known.insert(*v) {
            ins.push(*v);
        }
    }
    let mut number: HashMap<Val, usize> = ins.iter().enumerate().map(|(i, v)| (*v, i)).collect();
    let (mut steps, mut sums, mut results) = (vec![], vec![], vec![]);
    let (mut leading_sums, mut leading_results) = (vec![], vec![]);
    let mut shape = vec![];
    for node in &nodes {
        let op = node.op.name();
        let read = |v: &Val| {
            number
                .get(v)
                .copied()
                .ok_or(GraphError::Undefined { op, val: *v })
        };
        let reads: Vec<usize> = node.ins.iter().map(read).collect::<Result<_, _>>()?;
        shape = shape_of(graph, node).unwrap_or_default().to_vec();
        let out = node.outs[0];
        match node.op {
            Op::Sum => {
                sums.push(reads[0]);
                results.push(out);
            }
            Op::SumDim(_) => {
                leading_sums.push(reads[0]);
                leading_results.push(out);
            }
            Op::Dot => {
                steps.push((Op::Mul, reads));
                sums.push(ins.len() + steps.len() - 1);
                results.push(out);
            }
            _ => {
                steps.push((node.op.clone(), reads));
                number.insert(out, ins.len() + steps.len() - 1);
            }
        }
    }
    let group = unit.first().map_or(0, |&i| read_by.groups[i]);
    let stored: Vec<Val> = nodes
        .iter()
        .filter(|n| !is_sum(n))
        .map(|n| n.outs[0])
        .filter(|v| read_by.outside(group, *v))
        .collect();
    let outputs = stored
        .iter()
        .filter_map(|v| number.get(v).copied())
        .collect();
    let fused = Fused {
        shape,
        steps,
        outputs,
        sums,
        leading_sums,
        channel_sums: vec![],
    };
    let mut outs = stored;
    outs.extend(results);
    outs.extend(leading_results);
    Ok((Op::Fused(Arc::new(fused)), ins, outs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fedround_ir::Loc;
    use fedround_ir::tensor::TensorType;

    struct Build(Graph);

    impl Build {
        fn input(&mut self, name: &str, shape: &[usize]) -> Val {
            self.0.input(name, TensorType::f32(shape))
        }

        fn op(&mut self, op: Op, ins: &[Val]) -> Val {
            self.0.push(op, ins, Loc::caller()).unwrap()
        }

        fn names(mut self, outputs: &[Val]) -> Vec<&'static str> {
            for v in outputs {
                self.0.outputs.push((format!("o{}", v.0), *v));
            }
            let fused = fuse_elementwise(&self.0).unwrap();
            fused.verify().unwrap();
            fused.nodes.iter().map(|n| n.op.name()).collect()
        }
    }

    #[test]
    fn a_proximal_pull_and_its_norm_are_one_pass() {
        let mut b = Build(Graph::default());
        let (w, w0, c) = (
            b.input("w", &[2, 3]),
            b.input("w0", &[2, 3]),
            b.input("c", &[1]),
        );
        let d = b.op(Op::Sub, &[w, w0]);
        let norm = b.op(Op::Dot, &[d, d]);
        let next = b.op(Op::Axpy(-1.0), &[w, c, d]);
        assert_eq!(b.names(&[norm, next]), ["fused"]);
    }

    /// The factor `η μ` of the pull shares numbers with the loss, which needs the norm.
    #[test]
    fn numbers_do_not_tie_passes_together() {
        let mut b = Build(Graph::default());
        let (w, w0) = (b.input("w", &[2, 3]), b.input("w0", &[2, 3]));
        let (lr, mu) = (b.input("lr", &[1]), b.input("mu", &[1]));
        let d = b.op(Op::Sub, &[w, w0]);
        let norm = b.op(Op::Dot, &[d, d]);
        let loss = b.op(Op::Mul, &[norm, mu]);
        let c = b.op(Op::Mul, &[lr, mu]);
        let next = b.op(Op::Axpy(-1.0), &[w, c, d]);
        assert_eq!(b.names(&[loss, next]), ["mul", "fused", "mul"]);
    }

    #[test]
    fn what_a_product_separates_stays_apart() {
        let mut b = Build(Graph::default());
        let (x, w) = (b.input("x", &[3, 3]), b.input("w", &[3, 3]));
        let a = b.op(Op::Exp, &[x]);
        let product = b.op(Op::MatMul, &[a, w]);
        let sum = b.op(Op::Add, &[a, product]);
        assert_eq!(b.names(&[sum]), ["exp", "matmul", "add"]);
    }

    #[test]
    fn sums_of_each_channel_share_the_pass_of_a_large_gradient() {
        for (images, expected) in [
            (32, vec!["fused"]),
            (2, vec!["fused", "sum_dim", "sum_dim"]),
        ] {
            let mut b = Build(Graph::default());
            let shape = [images, 4, 16, 16];
            let (y, g, x) = (
                b.input("y", &shape),
                b.input("g", &shape),
                b.input("x", &shape),
            );
            let g = b.op(Op::ReluGrad, &[y, g]);
            let product = b.op(Op::Mul, &[g, x]);
            let beta = b.op(Op::SumDim(0), &[g]);
            let gamma = b.op(Op::SumDim(0), &[product]);
            assert_eq!(b.names(&[g, beta, gamma]), expected, "{images} images");
        }
    }

    #[test]
    fn a_lone_op_that_repeats_an_operand_over_a_large_result_is_a_pass() {
        for (images, expected) in [(32, "fused"), (2, "add")] {
            let mut b = Build(Graph::default());
            let x = b.input("x", &[images, 4, 16, 16]);
            let mean = b.input("mean", &[1, 4, 1, 1]);
            let y = b.op(Op::Add, &[x, mean]);
            assert_eq!(b.names(&[y]), [expected], "{images} images");
        }
    }

    /// A sum of one element has the shape of what it sums.
    #[test]
    fn what_reads_a_sum_is_not_in_its_pass() {
        for shape in [[1], [5]] {
            let mut b = Build(Graph::default());
            let x = b.input("x", &shape);
            let exp = b.op(Op::Exp, &[x]);
            let sum = b.op(Op::Sum, &[exp]);
            let y = b.op(Op::Mul, &[exp, sum]);
            assert_eq!(b.names(&[y]), ["fused", "mul"]);
        }
    }

    #[test]
    fn a_mask_that_others_read_is_stored() {
        let mut b = Build(Graph::default());
        let x = b.input("x", &[4]);
        let mask = b.op(
            Op::CompareScalar(fedround_ir::tensor::Cmp::Greater, 0.0),
            &[x],
        );
        let zero = b.op(Op::Full(0.0, vec![1]), &[]);
        let y = b.op(Op::Where, &[mask, x, zero]);
        assert_eq!(b.names(&[y, mask]), ["compare_scalar", "full", "where"]);
    }

    #[test]
    fn a_mask_within_is_not() {
        let mut b = Build(Graph::default());
        let x = b.input("x", &[4]);
        let mask = b.op(
            Op::CompareScalar(fedround_ir::tensor::Cmp::Greater, 0.0),
            &[x],
        );
        let half = b.op(Op::MulScalar(0.5), &[x]);
        let y = b.op(Op::Where, &[mask, x, half]);
        assert_eq!(b.names(&[y]), ["fused"]);
    }
}
