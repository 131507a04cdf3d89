//! The rules by which `fold` simplifies a node.

use std::cmp::Ordering;

use fedround_ir::tensor::{Node, Op, Val};

use super::rewrite::Growing;

/// What replaces a node.
pub(super) enum Simpler {
    /// An existing value.
    Is(Val),
    /// A constant of the result's shape.
    Full(f64),
    /// A cheaper node.
    Node(Op, Vec<Val>),
    /// `(c · small) · large`, in this order of operands.
    Scaled(f64, Val, Val),
}

/// The replacement of a node whose result has a shape, if one of the identities applies.
pub(super) fn simplify(graph: &Growing, node: &Node, shape: &[usize]) -> Option<Simpler> {
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
        (Op::MulScalar(c), &[a]) => match graph.made_by(a) {
            Some((Op::Full(x, _), _)) => Some(Simpler::Full(x * c)),
            _ if *c == 1.0 => Some(Simpler::Is(a)),
            Some((Op::MulScalar(d), ins)) => {
                Some(Simpler::Node(Op::MulScalar(c * d), ins.to_vec()))
            }
            // The factor is moved to the smaller operand of a broadcast product.
            Some((Op::Mul, &[a, b])) => {
                let len = |v: Val| graph.type_of(v).len();
                match len(a).cmp(&len(b)) {
                    Ordering::Less => Some(Simpler::Scaled(*c, a, b)),
                    Ordering::Greater => Some(Simpler::Scaled(*c, b, a)),
                    Ordering::Equal => None,
                }
            }
            Some((Op::Reshape(to), ins)) => match graph.made_by(ins[0]) {
                Some((Op::MulScalar(d), ins)) if c * d == 1.0 => {
                    Some(Simpler::Node(Op::Reshape(to.clone()), ins.to_vec()))
                }
                _ => None,
            },
            _ => None,
        },
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
        (Op::Neg, &[a]) => match graph.made_by(a)? {
            (Op::Full(x, _), _) => Some(Simpler::Full(-x)),
            (Op::Neg, ins) => Some(Simpler::Is(ins[0])),
            (Op::MulScalar(c), ins) => Some(Simpler::Node(Op::MulScalar(-c), ins.to_vec())),
            _ => None,
        },
        (Op::Reshape(to), &[a]) => match graph.made_by(a) {
            _ if keeps_shape(a) => Some(Simpler::Is(a)),
            Some((Op::Full(c, _), _)) => Some(Simpler::Full(*c)),
            Some((Op::Reshape(_), ins)) => {
                Some(Simpler::Node(Op::Reshape(to.clone()), ins.to_vec()))
            }
            _ => None,
        },
        (Op::Permute(axes), &[a]) => match graph.made_by(a) {
            _ if axes.iter().copied().eq(0..axes.len()) => Some(Simpler::Is(a)),
            Some((Op::Full(c, _), _)) => Some(Simpler::Full(*c)),
            Some((Op::Permute(first), ins)) => {
                let both = axes.iter().map(|&i| first[i]).collect();
                Some(Simpler::Node(Op::Permute(both), ins.to_vec()))
            }
            _ => None,
        },
        (Op::Expand(_), &[a]) if keeps_shape(a) => Some(Simpler::Is(a)),
        (Op::Slice(_), &[a]) if keeps_shape(a) => Some(Simpler::Is(a)),
        (Op::Expand(_) | Op::Slice(_), &[a]) => graph.full_value(a).map(Simpler::Full),
        (Op::SumDim(d), &[a]) if graph.shape(a)[*d] == 1 => Some(Simpler::Is(a)),
        (Op::SumDim(d), &[a]) => match scattered(graph, *d, a) {
            Some(v) => Some(Simpler::Node(Op::SumDim(*d), vec![v])),
            None => {
                let n = graph.shape(a)[*d] as f64;
                graph.full_value(a).map(|c| Simpler::Full(c * n))
            }
        },
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
    let (Op::ScatterAdd(along), &[into, _, values]) = graph.made_by(a)? else {
        return None;
    };
    // It may have fewer elements along the other dimensions.
    let outside = |v: Val| {
        let mut shape = graph.shape(v).to_vec();
        shape[d] = 1;
        shape
    };
    let into_zeros = *along == d && graph.full_value(into) == Some(0.0);
    (into_zeros && outside(a) == outside(values)).then_some(values)
}

/// An operand that is expanded only to be broadcast is read as it was.
fn without_expand(graph: &Growing, node: &Node, shape: &[usize]) -> Option<Simpler> {
    for (i, &v) in node.ins.iter().enumerate() {
        let Some((Op::Expand(_), ins)) = graph.made_by(v) else {
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
