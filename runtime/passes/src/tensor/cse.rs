//! `cse`: nodes with the same op and operands are computed once.

use std::collections::HashMap;

use fedround_ir::tensor::{Graph, GraphError, Op, Val};

use super::rewrite::Rewrite;

/// Shares equal nodes. Every op of the dialect is pure, so equal nodes have equal results.
///
/// # Errors
///
/// The graph is not well formed.
pub fn cse(graph: &Graph) -> Result<Graph, GraphError> {
    let mut seen: HashMap<(Key, Vec<Val>), Vec<Val>> = HashMap::new();
    Rewrite::run(graph, |rewrite, node| {
        let key = (key(&node.op), node.ins.clone());
        if let Some(outs) = seen.get(&key) {
            return Ok(outs.clone());
        }
        let outs = rewrite.keep(node)?;
        seen.insert(key, outs.clone());
        Ok(outs)
    })
}

/// An op as text, and the bits of the numbers that it holds: 0 and -0 differ, as they must.
type Key = (String, Vec<u64>);

fn key(op: &Op) -> Key {
    match op {
        Op::Constant(c) => (
            format!("{:?}", c.ty),
            c.values.iter().map(|x| x.to_bits()).collect(),
        ),
        op => (format!("{op:?}"), vec![]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fedround_ir::Loc;
    use fedround_ir::tensor::{Op, TensorType};

    #[test]
    fn equal_nodes_are_shared() {
        let mut g = Graph::default();
        let x = g.input("x", TensorType::f32([2]));
        let a = g.push(Op::Exp, &[x], Loc::caller()).unwrap();
        let b = g.push(Op::Exp, &[x], Loc::caller()).unwrap();
        let y = g.push(Op::Add, &[a, b], Loc::caller()).unwrap();
        g.outputs.push(("y".into(), y));
        let g = cse(&g).unwrap();
        assert_eq!(g.nodes.len(), 2);
        assert_eq!(g.nodes[1].ins[0], g.nodes[1].ins[1]);
    }
}
