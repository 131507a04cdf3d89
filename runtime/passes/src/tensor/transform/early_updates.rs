//! `early-updates`: each parameter is updated as soon as its gradient is there.
//!
//! An algorithm takes all gradients and then makes its step, so that the graph's order keeps the gradients
//! of all layers until the last one is computed. A large result that nothing in the graph reads, such as a
//! new weight, is therefore computed right after the last op that makes or reads what it needs: the gradient
//! is gone, and nothing else reads the weight, which the update overwrites.
//!
//! The ops are the same in another order, so no number changes.

use fedround_ir::tensor::{Graph, Node, Op, Val};

use super::def_use::{makers, readers};

/// The elements of a tensor whose memory counts. Smaller ones keep the graph's order.
const LARGE: usize = 1 << 14;

/// Moves updates up.
pub fn early_updates(graph: &Graph) -> Graph {
    let is_large = |v: &Val| graph.type_of(*v).len() >= LARGE;
    let (made, read) = (makers(graph), readers(graph));
    let is_update = |node: &Node| {
        let mut large = node.outs.iter().filter(|v| is_large(v)).peekable();
        matches!(node.op, Op::Axpy(_) | Op::Fused(_))
            && large.peek().is_some()
            && large.all(|v| read[v.0 as usize].is_empty())
    };
    // After which node each one stands.
    let place = |(i, node): (usize, &Node)| {
        if !is_update(node) {
            return i;
        }
        let makers = node.ins.iter().filter_map(|v| made[v.0 as usize]);
        let shared = node.ins.iter().filter(|v| is_large(v));
        let readers = shared.flat_map(|v| read[v.0 as usize].iter().copied());
        makers.chain(readers.filter(|&j| j < i)).max().unwrap_or(i)
    };
    let nodes = graph.nodes.iter().enumerate();
    let mut order: Vec<(usize, usize)> = nodes.map(|(i, node)| (place((i, node)), i)).collect();
    order.sort_unstable();
    Graph {
        nodes: order.iter().map(|(_, i)| graph.nodes[*i].clone()).collect(),
        ..graph.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fedround_ir::Loc;
    use fedround_ir::tensor::TensorType;

    /// The gradients of two layers and then the steps, with one weight read after its gradient is there.
    fn two_layers(len: usize) -> Graph {
        let mut g = Graph::default();
        let mut input = |name: &str| g.input(name, TensorType::f32([len]));
        let (w, v, x) = (input("w"), input("v"), input("x"));
        let lr = g.input("lr", TensorType::f32([1]));
        let mut op = |op: Op, ins: &[Val]| g.push(op, ins, Loc::caller()).unwrap();
        let dw = op(Op::Exp, &[x]);
        let through = op(Op::Mul, &[w, x]);
        let dv = op(Op::Mul, &[v, through]);
        let w = op(Op::Axpy(-1.0), &[w, lr, dw]);
        let v = op(Op::Axpy(-1.0), &[v, lr, dv]);
        g.outputs = vec![("w".into(), w), ("v".into(), v)];
        g
    }

    #[test]
    fn an_update_follows_the_last_reader_of_its_weight() {
        let early = early_updates(&two_layers(LARGE));
        early.verify().unwrap();
        let names: Vec<&str> = early.nodes.iter().map(|n| n.op.name()).collect();
        assert_eq!(names, ["exp", "mul", "axpy", "mul", "axpy"]);
    }

    #[test]
    fn small_ones_stay() {
        let graph = two_layers(LARGE - 1);
        assert_eq!(early_updates(&graph).text("g"), graph.text("g"));
    }

    /// The product of a dense layer's gradient goes into what the pull made, in one pass with it.
    #[test]
    fn what_another_op_reads_stays_before_it() {
        let mut g = Graph::default();
        let mut input = |name: &str, shape: &[usize]| g.input(name, TensorType::f32(shape));
        let (w, d) = (input("w", &[128, 128]), input("d", &[128, 128]));
        let (a, b, lr) = (
            input("a", &[128, 2]),
            input("b", &[2, 128]),
            input("lr", &[1]),
        );
        let mut op = |op: Op, ins: &[Val]| g.push(op, ins, Loc::caller()).unwrap();
        let a = op(Op::Exp, &[a]);
        let w = op(Op::Axpy(-1.0), &[w, lr, d]);
        let w = op(Op::MatMulAdd(-1.0), &[w, lr, a, b]);
        g.outputs = vec![("w".into(), w)];
        assert_eq!(early_updates(&g).text("g"), g.text("g"));
    }
}
