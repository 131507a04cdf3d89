//! `lift-expands`: what is repeated along dimensions is computed before it is repeated.
//!
//! The gradient of a mean repeats it over all elements, in several steps where the mean was taken in
//! several: `reshape(expand(c · expand(x)))`. As values of their own, these are full tensors that hold
//! few numbers. Here scalings and reshapes come before the repetition, two repetitions are one, and an
//! elementwise op reads the small tensor. No number changes: each is only computed fewer times.
//!
//! ```text
//! %1 = tensor.expand %m : f32[8x4x1]          // f32[1x4x1]
//! %2 = tensor.mul_scalar[0.25] %1
//! %3 = tensor.expand %2 : f32[8x4x6]           %5 = tensor.mul_scalar[0.25] %m
//! %4 = tensor.reshape %3 : f32[8x4x2x3]   ->   %6 = tensor.reshape %5 : f32[1x4x1x1]
//! %5 = tensor.add %x, %4                       %7 = tensor.add %x, %6
//! ```
//!
//! The pass is for devices whose kernels repeat an operand as they read it.

use fedround_ir::tensor::{Graph, GraphError, Op, Val};

use super::dce::dce;
use super::fuse_elementwise::groups::in_one_run;
use super::rewrite::{Growing, Rewrite};

/// Moves repetitions below the ops that can be computed before them.
///
/// # Errors
///
/// The graph is not well formed.
pub fn lift_expands(graph: &Graph) -> Result<Graph, GraphError> {
    let lifted = Rewrite::run(graph, |rewrite, mut node| {
        let new = &mut rewrite.new;
        let small = node.ins.first().and_then(|v| small(new, *v));
        match (&node.op, small) {
            (Op::Expand(to), Some(small)) => {
                let op = Op::Expand(to.clone());
                Ok(vec![new.push(op, &[small], node.loc)?])
            }
            (Op::MulScalar(_) | Op::AddScalar(_) | Op::Neg, Some(small)) => {
                let to = new.shape(node.ins[0]).to_vec();
                let few = new.push(node.op, &[small], node.loc)?;
                Ok(vec![new.push(Op::Expand(to), &[few], node.loc)?])
            }
            (Op::Reshape(to), Some(small)) => {
                match reshaped(new.shape(small), new.shape(node.ins[0]), to) {
                    Some(shape) => {
                        let to = Op::Expand(to.clone());
                        let few = new.push(Op::Reshape(shape), &[small], node.loc)?;
                        Ok(vec![new.push(to, &[few], node.loc)?])
                    }
                    None => rewrite.keep(node),
                }
            }
            (Op::Add | Op::Sub | Op::Mul | Op::Div, _) => {
                node.ins = read_small(new, &node.ins);
                rewrite.keep(node)
            }
            _ => rewrite.keep(node),
        }
    })?;
    Ok(dce(&lifted))
}

/// What a value repeats, if it does.
fn small(graph: &Growing, v: Val) -> Option<Val> {
    graph.source(v, |op| matches!(op, Op::Expand(_)))
}

/// The operands of an op on two tensors, the one small that is repeated to the shape of the other.
fn read_small(graph: &Growing, ins: &[Val]) -> Vec<Val> {
    let &[a, b] = ins else {
        return ins.to_vec();
    };
    let fits = |full: Val, v: Val| {
        let few = small(graph, v)?;
        let fits = graph.shape(full) == graph.shape(v)
            && graph.shape(few).len() == graph.shape(v).len()
            && in_one_run(graph.shape(few), graph.shape(v));
        fits.then_some(few)
    };
    match (fits(a, b), fits(b, a)) {
        (Some(few), _) => vec![a, few],
        (None, Some(few)) => vec![few, b],
        (None, None) => vec![a, b],
    }
}

/// The shape in which `small`, repeated to `to`, is what `small` repeated to `from` and reshaped to `to` is.
fn reshaped(small: &[usize], from: &[usize], to: &[usize]) -> Option<Vec<usize>> {
    let mut result = Vec::with_capacity(to.len());
    // Neighbouring dimensions that are as large together on both sides are cut or joined with each other.
    let (mut i, mut j) = (0, 0);
    while i < from.len() || j < to.len() {
        let (first, next) = (i, j);
        let (mut left, mut right) = (1, 1);
        let mut begun = false;
        while !begun || left != right {
            if (left <= right || j == to.len()) && i < from.len() {
                left *= from[i];
                i += 1;
            } else {
                right *= to.get(j)?;
                j += 1;
            }
            begun = true;
        }
        let own = &small[first..i];
        if own == &from[first..i] {
            result.extend_from_slice(&to[next..j]);
        } else if own.iter().all(|n| *n == 1) {
            result.extend(to[next..j].iter().map(|_| 1));
        } else {
            return None;
        }
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fedround_ir::Loc;
    use fedround_ir::tensor::TensorType;

    #[test]
    fn the_gradient_of_a_mean_stays_small() {
        let at = Loc::caller();
        let mut g = Graph::default();
        let x = g.input("x", TensorType::f32([8, 4, 2, 3]));
        let mean = g.input("mean", TensorType::f32([1, 4, 1]));
        let mut op = |op: Op, ins: &[Val]| g.push(op, ins, at).unwrap();
        let images = op(Op::Expand(vec![8, 4, 1]), &[mean]);
        let images = op(Op::MulScalar(0.25), &[images]);
        let pixels = op(Op::Expand(vec![8, 4, 6]), &[images]);
        let pixels = op(Op::Reshape(vec![8, 4, 2, 3]), &[pixels]);
        let sum = op(Op::Add, &[x, pixels]);
        g.outputs.push(("sum".into(), sum));
        let lifted = lift_expands(&g).unwrap();
        lifted.verify().unwrap();
        let ops: Vec<&Op> = lifted.nodes.iter().map(|n| &n.op).collect();
        let few = Op::Reshape(vec![1, 4, 1, 1]);
        assert_eq!(ops, [&Op::MulScalar(0.25), &few, &Op::Add]);
    }

    #[test]
    fn what_an_output_or_another_op_needs_is_repeated() {
        let at = Loc::caller();
        let mut g = Graph::default();
        let row = g.input("row", TensorType::f32([1, 3]));
        let w = g.input("w", TensorType::f32([3, 2]));
        let rows = g.push(Op::Expand(vec![4, 3]), &[row], at).unwrap();
        let rows = g.push(Op::Neg, &[rows], at).unwrap();
        let product = g.push(Op::MatMul, &[rows, w], at).unwrap();
        g.outputs.push(("rows".into(), rows));
        g.outputs.push(("product".into(), product));
        let lifted = lift_expands(&g).unwrap();
        lifted.verify().unwrap();
        let ops: Vec<&Op> = lifted.nodes.iter().map(|n| &n.op).collect();
        assert_eq!(ops, [&Op::Neg, &Op::Expand(vec![4, 3]), &Op::MatMul]);
    }

    #[test]
    fn dimensions_are_cut_and_joined_where_they_are_alike() {
        let of = |small: &[usize], from: &[usize], to: &[usize]| reshaped(small, from, to);
        assert_eq!(
            of(&[1, 4, 1], &[8, 4, 6], &[8, 4, 2, 3]),
            Some(vec![1, 4, 1, 1])
        );
        assert_eq!(of(&[8, 1], &[8, 6], &[2, 4, 6]), Some(vec![2, 4, 1]));
        assert_eq!(of(&[1, 1], &[8, 6], &[48]), Some(vec![1]));
        assert_eq!(of(&[1], &[6], &[1, 6, 1]), Some(vec![1, 1, 1]));
        // Rows that are repeated, and joined with what is not.
        assert_eq!(of(&[8, 1], &[8, 6], &[48]), None);
        assert_eq!(of(&[1, 6], &[8, 6], &[6, 8]), None);
    }
}
