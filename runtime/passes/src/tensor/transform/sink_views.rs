//! `sink-views`: reshapes and transposes move down through elementwise ops, to meet and cancel.
//!
//! `relu(transpose(x))` becomes `transpose(relu(x))`, and a sum of two transposes the transpose of
//! a sum. Batched convolutions leave such views around every activation, as they turn clients into channel
//! groups and back. Once neighbouring views have cancelled, the whole network runs in one layout.

use fedround_ir::tensor::{Graph, GraphError, Node, Op, Val};

use super::rewrite::{Growing, Rewrite};

/// Moves each view that one elementwise op alone reads below that op.
///
/// # Errors
///
/// The graph is not well formed.
pub fn sink_views(graph: &Graph) -> Result<Graph, GraphError> {
    let uses = graph.use_counts();
    Rewrite::run(graph, |rewrite, node| {
        let old = &graph.nodes[rewrite.at];
        // A view that others read too would only be doubled.
        let alone = old.ins.iter().all(|v| {
            let own = old.ins.iter().filter(|w| *w == v).count();
            uses[v.0 as usize] == own
        });
        match views(&rewrite.new, &node).filter(|_| alone) {
            Some((view, ins)) => {
                let below = rewrite.new.push(node.op, &ins, node.loc)?;
                Ok(vec![rewrite.new.push(view, &[below], node.loc)?])
            }
            None => rewrite.keep(node),
        }
    })
}

/// The view that all operands of an elementwise op go through, and what they view.
fn views(graph: &Growing, node: &Node) -> Option<(Op, Vec<Val>)> {
    if !node.op.is_elementwise() {
        return None;
    }
    let mut common: Option<(Op, Vec<usize>)> = None;
    let mut ins = vec![];
    for v in &node.ins {
        let producer = graph.producer(*v)?;
        let (Op::Reshape(_) | Op::Permute(_)) = producer.op else {
            return None;
        };
        let from = graph.shape(producer.ins[0]).to_vec();
        match &common {
            None => common = Some((producer.op.clone(), from)),
            Some((op, shape)) if *op == producer.op && *shape == from => {}
            Some(_) => return None,
        }
        ins.push(producer.ins[0]);
    }
    let (view, from) = common?;
    // Adding dimensions of size 1 for a broadcast is no layout: leave it where it is.
    let grows = matches!(&view, Op::Reshape(to) if to.len() > from.len() && to.contains(&1));
    (!grows).then_some((view, ins))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fedround_ir::Loc;
    use fedround_ir::tensor::TensorType;

    #[test]
    fn a_transpose_meets_its_inverse_below_an_activation() {
        let at = Loc::caller();
        let mut g = Graph::default();
        let x = g.input("x", TensorType::f32([2, 3]));
        let t = g.push(Op::Permute(vec![1, 0]), &[x], at).unwrap();
        let y = g.push(Op::Relu, &[t], at).unwrap();
        let back = g.push(Op::Permute(vec![1, 0]), &[y], at).unwrap();
        g.outputs.push(("y".into(), back));
        let g = crate::tensor::optimize(sink_views(&g).unwrap()).unwrap();
        let ops: Vec<Op> = g.nodes.into_iter().map(|n| n.op).collect();
        assert_eq!(ops, [Op::Relu]);
    }

    #[test]
    fn operands_in_two_layouts_stay() {
        let at = Loc::caller();
        let mut g = Graph::default();
        let x = g.input("x", TensorType::f32([3, 3]));
        let t = g.push(Op::Permute(vec![1, 0]), &[x], at).unwrap();
        let y = g.push(Op::Add, &[t, x], at).unwrap();
        g.outputs.push(("y".into(), y));
        assert_eq!(sink_views(&g).unwrap().text("f"), g.text("f"));
    }
}
