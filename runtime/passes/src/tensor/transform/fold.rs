//! `fold`: constants are propagated and algebraic identities applied.
//!
//! The gradient pass starts with a gradient of 1 and divides by the batch size, for example. Folding
//! turns these into one constant and drops multiplications by 1.

use std::cmp::Ordering;

use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, GraphError, Node, Op, Val};

use super::rewrite::{Growing, Rewrite};

/// Applies the identities of this module's `simplify` to every node, operands first.
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

enum Simpler {
    /// An existing value.
    Is(Val),
    /// A constant of the result's shape.
    Full(f64),
    /// A cheaper node.
    Node(Op, Vec<Val>),
    /// `(c · small) · large`, in this order of operands.
    Scaled(f64, Val, Val),
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

fn simplify(graph: &Growing, node: &Node, shape: &[usize]) -> Option<Simpler> {
    let ins = node.ins.as_slice();
    let keeps_shape = |v: Val| graph.shape(v) == shape;
    match (&node.op, ins) {
        (Op::Add, &[a, b]) if a == b => Some(Simpler::Node(Op::MulScalar(2.0), vec![a])),
        (Op::Add | Op::Sub | Op::Mul | Op::Div, &[a, b]) => {
            binary(graph, &node.op, a, b, shape).or_else(|| without_expand(graph, node, shape))
        }
        (Op::AddScalar(c), &[a]) => match graph.full_value(a) {
            Some(x) => Some(Simpler::Full(x + c)),
            None => (*c == 0.0).then_some(Simpler::Is(a)),
        },
        (Op::MulScalar(c), &[a]) => {
            if let Some(x) = graph.full_value(a) {
                return Some(Simpler::Full(x * c));
            }
            match graph.producer(a) {
                _ if *c == 1.0 => Some(Simpler::Is(a)),
                Some(Node {
                    op: Op::MulScalar(d),
                    ins,
                    ..
                }) => Some(Simpler::Node(Op::MulScalar(c * d), ins.clone())),
                // The factor is moved to the smaller operand of a broadcast product.
                Some(Node {
                    op: Op::Mul, ins, ..
                }) => {
                    let len = |v: Val| graph.type_of(v).len();
                    let (a, b) = (ins[0], ins[1]);
                    match len(a).cmp(&len(b)) {
                        Ordering::Less => Some(Simpler::Scaled(*c, a, b)),
                        Ordering::Greater => Some(Simpler::Scaled(*c, b, a)),
                        Ordering::Equal => None,
                    }
                }
                Some(Node {
                    op: Op::Reshape(to),
                    ins,
                    ..
                }) => match graph.producer(ins[0]) {
                    Some(Node {
                        op: Op::MulScalar(d),
                        ins,
                        ..
                    }) if c * d == 1.0 => Some(Simpler::Node(Op::Reshape(to.clone()), ins.clone())),
                    _ => None,
                },
                _ => None,
            }
        }
        // Gradients are taken before graphs are folded.
        (Op::StopGradient, &[a]) => Some(Simpler::Is(a)),
        (Op::Cast(to), &[a]) if graph.type_of(a).dtype == *to => Some(Simpler::Is(a)),
        (Op::PowScalar(1.0), &[a]) => Some(Simpler::Is(a)),
        (Op::Exp | Op::Log | Op::Sqrt | Op::Tanh | Op::Sigmoid | Op::Cos | Op::Floor, &[a]) => {
            let x = graph.full_value(a)?;
            Some(Simpler::Full(match node.op {
                Op::Exp => x.exp(),
                Op::Log => x.ln(),
                Op::Sqrt => x.sqrt(),
                Op::Tanh => x.tanh(),
                Op::Sigmoid => 1.0 / (1.0 + (-x).exp()),
                Op::Cos => x.cos(),
                _ => x.floor(),
            }))
        }
        (Op::Flip(axes), &[_]) if axes.iter().all(|&d| shape[d] == 1) => Some(Simpler::Is(ins[0])),
        (Op::Neg, &[a]) => match (graph.full_value(a), graph.producer(a)) {
            (Some(x), _) => Some(Simpler::Full(-x)),
            (
                _,
                Some(Node {
                    op: Op::Neg, ins, ..
                }),
            ) => Some(Simpler::Is(ins[0])),
            (
                _,
                Some(Node {
                    op: Op::MulScalar(c),
                    ins,
                    ..
                }),
            ) => Some(Simpler::Node(Op::MulScalar(-c), ins.clone())),
            _ => None,
        },
        (Op::Reshape(to), &[a]) => match graph.producer(a) {
            _ if keeps_shape(a) => Some(Simpler::Is(a)),
            Some(Node {
                op: Op::Full(c, _), ..
            }) => Some(Simpler::Full(*c)),
            Some(Node {
                op: Op::Reshape(_),
                ins,
                ..
            }) => Some(Simpler::Node(Op::Reshape(to.clone()), ins.clone())),
            _ => None,
        },
        (Op::Permute(axes), &[a]) => match graph.producer(a) {
            _ if axes.iter().copied().eq(0..axes.len()) => Some(Simpler::Is(a)),
            Some(Node {
                op: Op::Full(c, _), ..
            }) => Some(Simpler::Full(*c)),
            Some(Node {
                op: Op::Permute(first),
                ins,
                ..
            }) => {
                let both = axes.iter().map(|&i| first[i]).collect();
                Some(Simpler::Node(Op::Permute(both), ins.clone()))
            }
            _ => None,
        },
        (Op::Expand(_), &[a]) if keeps_shape(a) => Some(Simpler::Is(a)),
        (Op::Slice(_), &[a]) if keeps_shape(a) => Some(Simpler::Is(a)),
        (Op::Expand(_) | Op::Slice(_), &[a]) => graph.full_value(a).map(Simpler::Full),
        (Op::SumDim(d), &[a]) if graph.shape(a)[*d] == 1 => Some(Simpler::Is(a)),
        (Op::SumDim(d), &[a]) if scattered(graph, *d, a).is_some() => {
            scattered(graph, *d, a).map(|v| Simpler::Node(Op::SumDim(*d), vec![v]))
        }
        (Op::SumDim(d), &[a]) => {
            let n = graph.shape(a)[*d] as f64;
            graph.full_value(a).map(|c| Simpler::Full(c * n))
        }
        (Op::MeanDim(_) | Op::Mean, &[a]) => graph.full_value(a).map(Simpler::Full),
        (Op::Sum, &[a]) => {
            let n = graph.type_of(a).len() as f64;
            graph.full_value(a).map(|c| Simpler::Full(c * n))
        }
        _ => None,
    }
}

fn binary(graph: &Growing, op: &Op, a: Val, b: Val, shape: &[usize]) -> Option<Simpler> {
    let keeps = |v: Val| graph.shape(v) == shape;
    match (op, graph.full_value(a), graph.full_value(b)) {
        (Op::Add, Some(x), Some(y)) => Some(Simpler::Full(x + y)),
        (Op::Sub, Some(x), Some(y)) => Some(Simpler::Full(x - y)),
        (Op::Mul, Some(x), Some(y)) => Some(Simpler::Full(x * y)),
        (Op::Div, Some(x), Some(y)) => Some(Simpler::Full(x / y)),
        (Op::Mul, Some(0.0), _) | (Op::Mul, _, Some(0.0)) => Some(Simpler::Full(0.0)),
        (Op::Add, Some(0.0), _) if keeps(b) => Some(Simpler::Is(b)),
        (Op::Add | Op::Sub, _, Some(0.0)) if keeps(a) => Some(Simpler::Is(a)),
        (Op::Sub, Some(0.0), _) if keeps(b) => Some(Simpler::Node(Op::Neg, vec![b])),
        (Op::Mul, Some(c), _) if keeps(b) => Some(Simpler::Node(Op::MulScalar(c), vec![b])),
        (Op::Mul, _, Some(c)) if keeps(a) => Some(Simpler::Node(Op::MulScalar(c), vec![a])),
        (Op::Add, Some(c), _) if keeps(b) => Some(Simpler::Node(Op::AddScalar(c), vec![b])),
        (Op::Add, _, Some(c)) if keeps(a) => Some(Simpler::Node(Op::AddScalar(c), vec![a])),
        (Op::Sub, _, Some(c)) if keeps(a) => Some(Simpler::Node(Op::AddScalar(-c), vec![a])),
        _ => None,
    }
}

/// The values that `a` scatters into zeros along `d`: their sum along `d` is that of `a`.
fn scattered(graph: &Growing, d: usize, a: Val) -> Option<Val> {
    match graph.producer(a)? {
        Node {
            op: Op::ScatterAdd(along),
            ins,
            ..
        } if *along == d => {
            // It may have fewer elements along the other dimensions.
            let outside = |v: Val| {
                let mut shape = graph.shape(v).to_vec();
                shape[d] = 1;
                shape
            };
            let into_zeros = graph.full_value(ins[0]) == Some(0.0);
            (into_zeros && outside(a) == outside(ins[2])).then_some(ins[2])
        }
        _ => None,
    }
}

/// An operand that is expanded only to be broadcast is read as it was.
fn without_expand(graph: &Growing, node: &Node, shape: &[usize]) -> Option<Simpler> {
    for (i, &v) in node.ins.iter().enumerate() {
        let Some(Node {
            op: Op::Expand(_),
            ins,
            ..
        }) = graph.producer(v)
        else {
            continue;
        };
        let mut operands = node.ins.clone();
        operands[i] = ins[0];
        let types: Vec<_> = operands.iter().map(|&v| graph.type_of(v)).collect();
        if matches!(node.op.infer(&types, node.loc), Ok(t) if t[0].shape == shape) {
            return Some(Simpler::Node(node.op.clone(), operands));
        }
    }
    None
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
