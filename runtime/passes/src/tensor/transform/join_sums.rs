//! `join-sums`: sums that are added up are one sum.
//!
//! The squared distance of two models is the sum of one for each tensor, and on GPUs a sum over all
//! elements is a kernel of its own. `sum(a) + sum(b) + …` becomes a sum over rows for each, which is part
//! of the kernel that computes the terms, and one sum over all of these.

use std::collections::HashSet;

use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, GraphError, Node, Op, Val};

use super::dce::dce;
use super::def_use::readers;
use super::rewrite::{Growing, Rewrite};

/// Joins the sums over all elements in each chain of additions.
///
/// # Errors
///
/// The graph is not well formed.
pub fn join_sums(graph: &Graph) -> Result<Graph, GraphError> {
    let readers = readers(graph);
    let is_addition = |node: &Node| node.op == Op::Add && graph.shape(node.outs[0]) == [1];
    // What several ops read is computed anyway: it is one term of each.
    let mut shared = HashSet::new();
    let joined = Rewrite::run(graph, |rewrite, node| {
        let old = &graph.nodes[rewrite.at];
        let by = &readers[old.outs[0].0 as usize];
        // The last addition of a chain: what reads it, if anything does, is another op.
        let last = is_addition(old) && !by.iter().any(|&i| is_addition(&graph.nodes[i]));
        let mut terms = Terms::default();
        if last {
            terms.add(&rewrite.new, &shared, node.ins[0]);
            terms.add(&rewrite.new, &shared, node.ins[1]);
        }
        let outs = match terms.sums.len() {
            0 | 1 => rewrite.keep(node)?,
            _ => vec![terms.total(&mut rewrite.new, node.loc)?],
        };
        if by.len() > 1 {
            shared.extend(&outs);
        }
        Ok(outs)
    })?;
    Ok(dce(&joined))
}

/// What a chain of additions adds up.
#[derive(Default)]
struct Terms {
    /// Tensors whose elements are.
    sums: Vec<Val>,
    /// Single numbers.
    others: Vec<Val>,
}

impl Terms {
    fn add(&mut self, graph: &Growing, shared: &HashSet<Val>, v: Val) {
        match graph.producer(v).filter(|_| !shared.contains(&v)) {
            Some(node) if node.op == Op::Add && graph.shape(v) == [1] => {
                self.add(graph, shared, node.ins[0]);
                self.add(graph, shared, node.ins[1]);
            }
            Some(node) if node.op == Op::Sum && !graph.shape(node.ins[0]).is_empty() => {
                self.sums.push(node.ins[0]);
            }
            _ => self.others.push(v),
        }
    }

    fn total(&self, graph: &mut Growing, at: Loc) -> Result<Val, GraphError> {
        let mut rows = vec![];
        for &x in &self.sums {
            let last = graph.shape(x).len() - 1;
            if last == 0 {
                rows.push(x);
                continue;
            }
            let sums = graph.push(Op::SumDim(last), &[x], at)?;
            // burn-fusion prefers a kernel without the sum unless another op follows it.
            let sums = graph.push(Op::MulScalar(1.0), &[sums], at)?;
            let flat = Op::Reshape(vec![graph.type_of(sums).len()]);
            rows.push(graph.push(flat, &[sums], at)?);
        }
        let all = graph.push(Op::Cat(0), &rows, at)?;
        let mut total = graph.push(Op::SumDim(0), &[all], at)?;
        for v in &self.others {
            total = graph.push(Op::Add, &[total, *v], at)?;
        }
        Ok(total)
    }
}
