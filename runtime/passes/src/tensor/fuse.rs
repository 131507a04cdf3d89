//! `fuse`: `w ± s · g` becomes one `axpy`, or one `matmul_add` where `g` is a product of matrices,
//! and `Σ a · b` one `dot`: each walks its operands once instead of twice.
//!
//! For devices whose backend does not fuse elementwise ops itself.

use fedround_ir::tensor::{Graph, GraphError, Node, Op, Val};

use super::dce::dce;
use super::rewrite::Rewrite;

/// Fuses sums and differences with products that nothing else reads.
///
/// # Errors
///
/// The graph is not well formed.
pub fn fuse(graph: &Graph) -> Result<Graph, GraphError> {
    let mut uses = vec![0usize; graph.types.len()];
    let reads = graph.nodes.iter().flat_map(|n| &n.ins);
    for v in reads.chain(graph.outputs.iter().map(|(_, v)| v)) {
        uses[v.0 as usize] += 1;
    }
    // Nodes are appended in the old order, so the i-th old node is the i-th new one.
    let mut single: Vec<bool> = vec![];
    let mut index = 0;
    let fused = Rewrite::run(graph, |rewrite, node| {
        let old = &graph.nodes[index];
        index += 1;
        single.resize(rewrite.new.nodes.len(), false);
        single.push(old.outs.iter().all(|v| uses[v.0 as usize] == 1));
        let sign = match node.op {
            Op::Add => 1.0,
            Op::Sub => -1.0,
            Op::Sum => {
                return match product(&rewrite.new, &single, node.ins[0]) {
                    Some([a, b]) if rewrite.new.type_of(a) == rewrite.new.type_of(b) => {
                        Ok(vec![rewrite.new.push(Op::Dot, &[a, b], node.loc)?])
                    }
                    _ => rewrite.keep(node),
                };
            }
            _ => return rewrite.keep(node),
        };
        let (a, b) = (node.ins[0], node.ins[1]);
        // A sum may have its product on either side.
        let orders = [(a, b), (b, a)];
        let orders = &orders[..if node.op == Op::Add { 2 } else { 1 }];
        let found = orders.iter().find_map(|&(y, product)| {
            let (s, x) = scaled(&rewrite.new, &single, product)?;
            (rewrite.new.shape(x) == rewrite.new.shape(y)).then_some([y, s, x])
        });
        match found {
            Some([y, s, x]) => {
                let (op, ins) = match gemm(&rewrite.new, &single, x) {
                    Some([a, b]) => (Op::MatMulAdd(sign), vec![y, s, a, b]),
                    None => (Op::Axpy(sign), vec![y, s, x]),
                };
                Ok(vec![rewrite.new.push(op, &ins, node.loc)?])
            }
            None => rewrite.keep(node),
        }
    })?;
    Ok(dce(&fused))
}

/// The operands of a product that is read once.
fn product(graph: &Graph, single: &[bool], v: Val) -> Option<[Val; 2]> {
    let at = graph.nodes.iter().position(|n| n.outs.contains(&v))?;
    let Node {
        op: Op::Mul, ins, ..
    } = &graph.nodes[at]
    else {
        return None;
    };
    single[at].then_some([ins[0], ins[1]])
}

/// The factors of a product of two matrices that is read once.
fn gemm(graph: &Graph, single: &[bool], v: Val) -> Option<[Val; 2]> {
    let at = graph.nodes.iter().position(|n| n.outs.contains(&v))?;
    let node = &graph.nodes[at];
    let matrices = node.op == Op::MatMul && graph.shape(v).len() == 2 && single[at];
    matrices.then(|| [node.ins[0], node.ins[1]])
}

/// The scalar `s: f32[1]` and the tensor `x` of a product `s · x` that is read once.
fn scaled(graph: &Graph, single: &[bool], v: Val) -> Option<(Val, Val)> {
    let [a, b] = product(graph, single, v)?;
    [(a, b), (b, a)].into_iter().find_map(|(s, x)| {
        if graph.shape(s) == [1] {
            return Some((s, x));
        }
        let node = graph.nodes.iter().find(|n| n.outs.contains(&s))?;
        let reshaped = matches!(node.op, Op::Reshape(_)) && graph.shape(node.ins[0]) == [1];
        reshaped.then_some((node.ins[0], x))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fedround_ir::Loc;
    use fedround_ir::tensor::TensorType;

    fn update(read_twice: bool) -> Graph {
        let at = Loc::caller();
        let mut g = Graph::default();
        let w = g.input("w", TensorType::f32([2, 3]));
        let d = g.input("d", TensorType::f32([2, 3]));
        let lr = g.input("lr", TensorType::f32([1]));
        let lr = g.push(Op::Reshape(vec![1, 1]), &[lr], at).unwrap();
        let step = g.push(Op::Mul, &[d, lr], at).unwrap();
        let next = g.push(Op::Sub, &[w, step], at).unwrap();
        g.outputs.push(("next".into(), next));
        if read_twice {
            g.outputs.push(("step".into(), step));
        }
        g
    }

    #[test]
    fn an_update_is_one_op() {
        let g = fuse(&update(false)).unwrap();
        g.verify().unwrap();
        assert_eq!(g.nodes.len(), 1);
        assert_eq!(g.nodes[0].op, Op::Axpy(-1.0));
    }

    #[test]
    fn a_dense_layers_update_is_one_op() {
        let at = Loc::caller();
        let mut g = Graph::default();
        let w = g.input("w", TensorType::f32([2, 3]));
        let a = g.input("a", TensorType::f32([2, 5]));
        let b = g.input("b", TensorType::f32([5, 3]));
        let lr = g.input("lr", TensorType::f32([1]));
        let lr = g.push(Op::Reshape(vec![1, 1]), &[lr], at).unwrap();
        let d = g.push(Op::MatMul, &[a, b], at).unwrap();
        let step = g.push(Op::Mul, &[d, lr], at).unwrap();
        let next = g.push(Op::Sub, &[w, step], at).unwrap();
        g.outputs.push(("next".into(), next));
        let g = fuse(&g).unwrap();
        g.verify().unwrap();
        assert_eq!(g.nodes.len(), 1);
        assert_eq!(g.nodes[0].op, Op::MatMulAdd(-1.0));
    }

    #[test]
    fn a_sum_of_products_is_one_op() {
        let mut g = Graph::default();
        let a = g.input("a", TensorType::f32([2, 3]));
        let b = g.input("b", TensorType::f32([2, 3]));
        let product = g.push(Op::Mul, &[a, b], Loc::caller()).unwrap();
        let sum = g.push(Op::Sum, &[product], Loc::caller()).unwrap();
        g.outputs.push(("sum".into(), sum));
        let g = fuse(&g).unwrap();
        g.verify().unwrap();
        assert_eq!(g.nodes.len(), 1);
        assert_eq!(g.nodes[0].op, Op::Dot);
    }

    #[test]
    fn a_product_that_is_read_again_stays() {
        let g = fuse(&update(true)).unwrap();
        assert_eq!(g.nodes.len(), 3);
    }
}
