//! `fold`: constants are propagated and algebraic identities applied.
//!
//! The gradient pass starts with a gradient of 1 and divides by the batch size, for example. Folding
//! turns these into one constant and drops multiplications by 1.

use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, GraphError, Node, Op, Val};

use super::fold_rules::{Simpler, simplify};
use super::rewrite::{Growing, Rewrite};

/// Applies the identities of `simplify` to every node, operands first.
///
/// # Errors
///
/// The graph is not well formed.
pub fn fold(graph: &Graph) -> Result<Graph, GraphError> {
    Rewrite::run(graph, |rewrite, node| {
        let (shape, loc) = (result_shape(&rewrite.new, &node), node.loc);
        match simplify(&rewrite.new, &node, &shape) {
            None => rewrite.keep(node),
            Some(Simpler::Is(v)) => Ok(vec![v]),
            Some(Simpler::Full(c)) => full(rewrite, c, shape, loc),
            Some(Simpler::Node(op, ins)) => Ok(vec![rewrite.new.push(op, &ins, loc)?]),
            Some(Simpler::Scaled(c, small, large)) => {
                let small = rewrite.new.push(Op::MulScalar(c), &[small], loc)?;
                Ok(vec![rewrite.new.push(Op::Mul, &[large, small], loc)?])
            }
        }
    })
}

fn full(r: &mut Rewrite, c: f64, shape: Vec<usize>, loc: Loc) -> Result<Vec<Val>, GraphError> {
    Ok(vec![r.new.push(Op::Full(c, shape), &[], loc)?])
}

fn result_shape(graph: &Growing, node: &Node) -> Vec<usize> {
    let ins: Vec<_> = node.ins.iter().map(|&v| graph.type_of(v)).collect();
    match node.op.infer(&ins, node.loc) {
        Ok(types) => types[0].shape.clone(),
        Err(_) => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fedround_ir::tensor::TensorType;

    fn folded(build: impl FnOnce(&mut Graph, Val) -> Val) -> String {
        let mut g = Graph::default();
        let x = g.input("x", TensorType::f32([2, 3]));
        let y = build(&mut g, x);
        g.outputs.push(("y".into(), y));
        let g = crate::tensor::optimize(g).unwrap();
        g.text("f").lines().skip(3).collect::<Vec<_>>().join("\n")
    }

    fn at() -> Loc {
        Loc::caller()
    }

    #[test]
    fn zero_times_anything_is_zero() {
        let text = folded(|g, x| {
            let zero = g.push(Op::Full(0.0, vec![1, 1]), &[], at()).unwrap();
            let product = g.push(Op::Mul, &[x, zero], at()).unwrap();
            g.push(Op::Add, &[x, product], at()).unwrap()
        });
        assert_eq!(text, "  return y = %x\n}");
    }

    #[test]
    fn a_constant_factor_becomes_a_scalar() {
        let text = folded(|g, x| {
            let c = g.push(Op::Full(2.0, vec![1, 1]), &[], at()).unwrap();
            let c = g.push(Op::Expand(vec![2, 3]), &[c], at()).unwrap();
            let product = g.push(Op::Mul, &[c, x], at()).unwrap();
            g.push(Op::MulScalar(3.0), &[product], at()).unwrap()
        });
        assert_eq!(
            text,
            "  %0 = tensor.mul_scalar[6] %x : f32[2x3]\n  return y = %0\n}"
        );
    }

    #[test]
    fn an_expansion_is_left_to_the_broadcast() {
        let text = folded(|g, x| {
            let s = g.push(Op::SumDim(0), &[x], at()).unwrap();
            let s = g.push(Op::Expand(vec![2, 3]), &[s], at()).unwrap();
            g.push(Op::Sub, &[x, s], at()).unwrap()
        });
        assert!(!text.contains("expand"), "{text}");
    }

    #[test]
    fn views_compose() {
        let text = folded(|g, x| {
            let t = g.push(Op::Permute(vec![1, 0]), &[x], at()).unwrap();
            let t = g.push(Op::Permute(vec![1, 0]), &[t], at()).unwrap();
            let r = g.push(Op::Reshape(vec![6]), &[t], at()).unwrap();
            g.push(Op::Reshape(vec![2, 3]), &[r], at()).unwrap()
        });
        assert_eq!(text, "  return y = %x\n}");
    }
}
