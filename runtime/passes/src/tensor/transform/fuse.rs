//! `fuse`: `w ± s · g` becomes one `axpy`, or one `matmul_add` where `g` is a product of matrices,
//! and `Σ a · b` one `dot`. Each reads its operands once instead of twice.
//!
//! The pass is for devices whose backend does not fuse elementwise ops itself.

use fedround_ir::tensor::{DType, Graph, GraphError, Node, Op, Val};

use super::cse::cse;
use super::dce::dce;
use super::rewrite::{Growing, Rewrite};

/// Fuses sums and differences with products that nothing else reads.
///
/// # Errors
///
/// The graph is not well formed.
pub fn fuse(graph: &Graph) -> Result<Graph, GraphError> {
    let uses = graph.use_counts();
    // For each new node, whether it stands for an old one whose results are read once.
    let mut single: Vec<bool> = vec![];
    let fused = Rewrite::run(graph, |rewrite, node| {
        let old = &graph.nodes[rewrite.at];
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
            // An update is one of floats; integers keep their operations.
            let [to, of] = [y, x].map(|v| rewrite.new.type_of(v));
            (to == of && to.dtype == DType::F32).then_some([y, s, x])
        });
        match found {
            Some([y, s, x]) => {
                if let Some((c, [product, t, d])) = axpy(&rewrite.new, &single, x)
                    && let Some([a, b]) = gemm(&rewrite.new, &single, product)
                {
                    // y ± s · (a b + c · t · d): the product goes straight into y, last, so that
                    // the rest of the update may share a pass with what else reads y.
                    let mut push = |op, ins: &[Val]| rewrite.new.push(op, ins, node.loc);
                    let st = push(Op::Mul, &[s, t])?;
                    let y = push(Op::Axpy(sign * c), &[y, st, d])?;
                    return Ok(vec![push(Op::MatMulAdd(sign), &[y, s, a, b])?]);
                }
                if let Some(([a, b], d)) = corrected(&rewrite.new, &single, x) {
                    // y ± s · (a b + d), as SCAFFOLD's step: the same, with d in place of c · t · d.
                    let mut push = |op, ins: &[Val]| rewrite.new.push(op, ins, node.loc);
                    let y = push(Op::Axpy(sign), &[y, s, d])?;
                    return Ok(vec![push(Op::MatMulAdd(sign), &[y, s, a, b])?]);
                }
                let (op, ins) = match gemm(&rewrite.new, &single, x) {
                    Some([a, b]) => (Op::MatMulAdd(sign), vec![y, s, a, b]),
                    None => (Op::Axpy(sign), vec![y, s, x]),
                };
                Ok(vec![rewrite.new.push(op, &ins, node.loc)?])
            }
            None => rewrite.keep(node),
        }
    })?;
    Ok(dce(&cse(&fused)?))
}

/// The node that makes a value, if that is read once.
fn read_once<'g>(graph: &'g Growing, single: &[bool], v: Val) -> Option<&'g Node> {
    let at = graph.definition(v)?;
    single[at].then(|| &graph.nodes[at])
}

/// The operands of a product that is read once.
fn product(graph: &Growing, single: &[bool], v: Val) -> Option<[Val; 2]> {
    let node = read_once(graph, single, v)?;
    (node.op == Op::Mul).then(|| [node.ins[0], node.ins[1]])
}

/// The factor and operands of an `axpy` that is read once.
fn axpy(graph: &Growing, single: &[bool], v: Val) -> Option<(f64, [Val; 3])> {
    let node = read_once(graph, single, v)?;
    match node.op {
        Op::Axpy(c) => Some((c, [node.ins[0], node.ins[1], node.ins[2]])),
        _ => None,
    }
}

/// The factors of a product of two matrices and what is added to it, in a sum that is read once and
/// repeats neither.
fn corrected(graph: &Growing, single: &[bool], v: Val) -> Option<([Val; 2], Val)> {
    let node = read_once(graph, single, v)?;
    let repeats = node.ins.iter().any(|x| graph.shape(*x) != graph.shape(v));
    if node.op != Op::Add || repeats {
        return None;
    }
    let [p, q] = [node.ins[0], node.ins[1]];
    let orders = [(p, q), (q, p)];
    orders
        .into_iter()
        .find_map(|(product, d)| Some((gemm(graph, single, product)?, d)))
}

/// The factors of a product of two matrices that is read once.
fn gemm(graph: &Growing, single: &[bool], v: Val) -> Option<[Val; 2]> {
    let node = read_once(graph, single, v)?;
    let matrices = node.op == Op::MatMul && graph.shape(v).len() == 2;
    matrices.then(|| [node.ins[0], node.ins[1]])
}

/// The scalar `s: f32[1]` and the tensor `x` of a product `s · x` that is read once.
fn scaled(graph: &Growing, single: &[bool], v: Val) -> Option<(Val, Val)> {
    let [a, b] = product(graph, single, v)?;
    [(a, b), (b, a)].into_iter().find_map(|(s, x)| {
        if graph.shape(s) == [1] {
            return Some((s, x));
        }
        let number = graph.source(s, |op| matches!(op, Op::Reshape(_)))?;
        (graph.shape(number) == [1]).then_some((number, x))
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
    fn a_drawn_direction_fuses_too() {
        let at = Loc::caller();
        let mut g = Graph::default();
        let w = g.input("w", TensorType::f32([2, 3]));
        let sigma = g.input("sigma", TensorType::f32([1]));
        let sigma = g.push(Op::Reshape(vec![1, 1]), &[sigma], at).unwrap();
        let normal = fedround_ir::tensor::Distribution::Normal(0.0, 1.0);
        let draw = g.push(Op::Random(normal, 0, vec![2, 3]), &[], at).unwrap();
        let noise = g.push(Op::Mul, &[draw, sigma], at).unwrap();
        let next = g.push(Op::Add, &[w, noise], at).unwrap();
        g.outputs.push(("next".into(), next));
        let g = fuse(&g).unwrap();
        g.verify().unwrap();
        assert!(
            g.nodes.iter().any(|n| n.op == Op::Axpy(1.0)),
            "{}",
            g.text("g")
        );
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
    fn a_proximal_update_goes_straight_into_the_weight() {
        let at = Loc::caller();
        let mut g = Graph::default();
        let mut input = |name: &str, shape: &[usize]| g.input(name, TensorType::f32(shape));
        let (w, d) = (input("w", &[2, 3]), input("d", &[2, 3]));
        let (a, b) = (input("a", &[2, 5]), input("b", &[5, 3]));
        let (lr, mu) = (input("lr", &[1]), input("mu", &[1]));
        let mut op = |op: Op, ins: &[Val]| g.push(op, ins, at).unwrap();
        let (lr, mu) = (
            op(Op::Reshape(vec![1, 1]), &[lr]),
            op(Op::Reshape(vec![1, 1]), &[mu]),
        );
        let pull = op(Op::Mul, &[d, mu]);
        let grad = op(Op::MatMul, &[a, b]);
        let grad = op(Op::Add, &[grad, pull]);
        let step = op(Op::Mul, &[grad, lr]);
        let next = op(Op::Sub, &[w, step]);
        g.outputs.push(("next".into(), next));
        let g = fuse(&g).unwrap();
        g.verify().unwrap();
        let ops: Vec<Op> = g.nodes.into_iter().map(|n| n.op).collect();
        assert_eq!(ops, [Op::Mul, Op::Axpy(-1.0), Op::MatMulAdd(-1.0)]);
    }

    #[test]
    fn a_corrected_gradient_goes_straight_into_the_weight() {
        let at = Loc::caller();
        let whole = vec![Op::Axpy(-1.0), Op::MatMulAdd(-1.0)];
        // A product of one row is repeated by the sum, so it cannot go into the weight.
        let repeated = vec![Op::MatMul, Op::Add, Op::Axpy(-1.0)];
        let cases = [(true, 2, &whole), (false, 2, &whole), (true, 1, &repeated)];
        for (first, rows, expected) in cases {
            let mut g = Graph::default();
            let mut input = |name: &str, shape: &[usize]| g.input(name, TensorType::f32(shape));
            let (w, d) = (input("w", &[2, 3]), input("d", &[2, 3]));
            let (a, b) = (input("a", &[rows, 5]), input("b", &[5, 3]));
            let lr = input("lr", &[1]);
            let mut op = |op: Op, ins: &[Val]| g.push(op, ins, at).unwrap();
            let lr = op(Op::Reshape(vec![1, 1]), &[lr]);
            let grad = op(Op::MatMul, &[a, b]);
            let grad = op(Op::Add, &if first { [grad, d] } else { [d, grad] });
            let step = op(Op::Mul, &[grad, lr]);
            let next = op(Op::Sub, &[w, step]);
            g.outputs.push(("next".into(), next));
            let g = fuse(&g).unwrap();
            g.verify().unwrap();
            let ops: Vec<Op> = g.nodes.into_iter().map(|n| n.op).collect();
            assert_eq!(&ops, expected);
        }
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
    fn a_product_with_a_constant_is_no_update() {
        let mut g = Graph::default();
        let y = g.input("y", TensorType::f32([2]));
        let c = g.push(Op::Full(3.0, vec![2]), &[], Loc::caller()).unwrap();
        let product = g.push(Op::Mul, &[c, y], Loc::caller()).unwrap();
        let sum = g.push(Op::Add, &[y, product], Loc::caller()).unwrap();
        g.outputs.push(("sum".into(), sum));
        let ops: Vec<Op> = fuse(&g).unwrap().nodes.into_iter().map(|n| n.op).collect();
        assert_eq!(ops, [Op::Full(3.0, vec![2]), Op::Mul, Op::Add]);
    }

    #[test]
    fn a_product_that_is_read_again_stays() {
        let g = fuse(&update(true)).unwrap();
        assert_eq!(g.nodes.len(), 3);
    }
}
