//! `dce`: nodes that no output needs are dropped. Inputs stay: they are the caller's signature.

use fedround_ir::tensor::Graph;

/// Drops nodes whose results are not used. Value numbers are kept.
pub fn dce(graph: &Graph) -> Graph {
    let mut live = vec![false; graph.types.len()];
    for (_, v) in &graph.outputs {
        live[v.0 as usize] = true;
    }
    let mut out = graph.clone();
    out.nodes.clear();
    for node in graph.nodes.iter().rev() {
        if node.outs.iter().any(|v| live[v.0 as usize]) {
            for v in &node.ins {
                live[v.0 as usize] = true;
            }
            out.nodes.push(node.clone());
        }
    }
    out.nodes.reverse();
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use fedround_ir::Loc;
    use fedround_ir::tensor::{Op, TensorType};

    #[test]
    fn unused_nodes_go() {
        let mut g = Graph::default();
        let x = g.input("x", TensorType::f32([2]));
        let dead = g.push(Op::Exp, &[x], Loc::caller()).unwrap();
        g.push(Op::Neg, &[dead], Loc::caller()).unwrap();
        let y = g.push(Op::Log, &[x], Loc::caller()).unwrap();
        g.outputs.push(("y".into(), y));
        let g = dce(&g);
        assert_eq!(g.nodes.len(), 1);
        assert!(g.verify().is_ok());
    }
}
