//! `one-hot`: the gather and the scatter of a cross-entropy become comparisons with the labels.
//!
//! `gather(x, i)` of one entry a row is `Σ (x where i = 0, 1, 2, …, else 0)`, and its gradient, which
//! writes one entry into a row of zeros, is a choice between the two numbers. A GPU's backend takes
//! comparisons, choices and sums into the kernels of their neighbours, but no gather and no scatter.
//! Results are the same bit for bit, as all other terms of the sum are zeros, except that −0 becomes 0.

use fedround_ir::Loc;
use fedround_ir::tensor::{Cmp, Constant, DType, Graph, GraphError, Op, TensorType, Val};

use super::rewrite::{Growing, Rewrite};

/// Replaces gathers of one entry a row, and scatters of one entry a row into zeros.
///
/// # Errors
///
/// The graph is not well formed.
pub fn one_hot(graph: &Graph) -> Result<Graph, GraphError> {
    Rewrite::run(graph, |rewrite, node| {
        let new = &mut rewrite.new;
        let loc = node.loc;
        match (&node.op, node.ins.as_slice()) {
            (Op::Gather(d), &[x, i]) if one_a_row(new, *d, x, i) => {
                let shape = new.shape(x).to_vec();
                let hot = mask(new, *d, &shape, i, loc)?;
                let zeros = new.push(Op::Full(0.0, shape), &[], loc)?;
                let chosen = new.push(Op::Where, &[hot, x, zeros], loc)?;
                Ok(vec![new.push(Op::SumDim(*d), &[chosen], loc)?])
            }
            (Op::ScatterAdd(d), &[x, i, v]) if one_a_row(new, *d, x, i) => {
                match (new.full_value(x), new.full_value(v)) {
                    (Some(0.0), Some(c)) => {
                        let shape = new.shape(x).to_vec();
                        let hot = mask(new, *d, &shape, i, loc)?;
                        let there = new.push(Op::Full(c, shape), &[], loc)?;
                        Ok(vec![new.push(Op::Where, &[hot, there, x], loc)?])
                    }
                    _ => rewrite.keep(node),
                }
            }
            _ => rewrite.keep(node),
        }
    })
}

/// Whether `i` names one entry along `d` for each position of `x` in the other dimensions.
fn one_a_row(graph: &Growing, d: usize, x: Val, i: Val) -> bool {
    let other = |(k, (i, x)): (usize, (&usize, &usize))| *i == if k == d { 1 } else { *x };
    let both = graph.shape(i).iter().zip(graph.shape(x));
    graph.type_of(x).dtype == DType::F32 && both.enumerate().all(other)
}

/// Where the place along `d` is the one that `i` names.
fn mask(graph: &mut Growing, d: usize, of: &[usize], i: Val, loc: Loc) -> Result<Val, GraphError> {
    let mut shape = vec![1; of.len()];
    shape[d] = of[d];
    let places = Constant {
        ty: TensorType::i32(shape),
        values: (0..of[d]).map(|place| place as f64).collect(),
    };
    let places = graph.push(Op::Constant(places), &[], loc)?;
    Ok(graph.push(Op::Compare(Cmp::Equal), &[i, places], loc)?)
}
