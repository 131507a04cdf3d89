//! `cse`: nodes with the same op and operands are computed once.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

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

/// Lets the nodes from `from` on read equal ones among them from the first, so that a gradient goes
/// back through them once; gives what stands for a value that they make. The others stay, unread,
/// because something else may know their values.
pub(crate) fn share(graph: &mut Graph, from: usize, value: Val) -> Val {
    let mut seen: HashMap<(Key, Vec<Val>), Vec<Val>> = HashMap::new();
    let mut first: HashMap<Val, Val> = HashMap::new();
    for node in graph.nodes.iter_mut().skip(from) {
        for v in &mut node.ins {
            *v = first.get(v).copied().unwrap_or(*v);
        }
        match seen.entry((key(&node.op), node.ins.clone())) {
            Entry::Occupied(known) => {
                first.extend(node.outs.iter().copied().zip(known.get().clone()))
            }
            Entry::Vacant(new) => {
                new.insert(node.outs.clone());
            }
        }
    }
    first.get(&value).copied().unwrap_or(value)
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

    #[test]
    fn a_gradient_goes_back_once_through_what_is_computed_twice() {
        let mut g = Graph::default();
        let x = g.input("x", TensorType::f32([2]));
        let before = g.push(Op::Exp, &[x], Loc::caller()).unwrap();
        let from = g.nodes.len();
        let a = g.push(Op::Exp, &[x], Loc::caller()).unwrap();
        let b = g.push(Op::Exp, &[x], Loc::caller()).unwrap();
        let [p, q] = [a, b].map(|v| g.push(Op::Sum, &[v], Loc::caller()).unwrap());
        let y = g.push(Op::Add, &[p, q], Loc::caller()).unwrap();
        assert_eq!(share(&mut g, from, y), y);
        assert_eq!(share(&mut g, from, q), p);
        let add = g.nodes.iter().find(|node| node.op == Op::Add).unwrap();
        assert_eq!(add.ins, [p, p]);
        // What was there before is another's.
        let sum = g.nodes.iter().find(|node| node.outs == [p]).unwrap();
        assert!(sum.ins == [a] && a != before);
    }
}
