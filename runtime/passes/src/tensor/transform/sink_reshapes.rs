//! `sink-reshapes`: the update of a parameter happens in the shape in which its gradient is made.
//!
//! The gradient of a bias is a sum over rows, `[1, n]`, which is reshaped to `[n]` and then subtracted.
//! burn-fusion ends a kernel at a reshape of what the kernel made, but reads inputs in any shape. So
//! `b − reshape(g)` becomes `reshape(reshape(b) − g)`, and the sum and the update are one kernel.

use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, GraphError, Node, Op, Val};

use super::dce::dce;
use super::recompute::{is_chain, is_given};
use super::rewrite::{Growing, Rewrite};

/// Moves reshapes below elementwise ops whose other operands are inputs, elementwise functions of
/// inputs, of one element, or there in the other shape already.
///
/// # Errors
///
/// The graph is not well formed.
pub fn sink_reshapes(graph: &Graph) -> Result<Graph, GraphError> {
    let sunk = Rewrite::run(graph, |rewrite, node| {
        let new = &mut rewrite.new;
        let Some(shapes) = Shapes::of(new, &node) else {
            return rewrite.keep(node);
        };
        let ins = node.ins.iter().map(|v| shapes.view(new, *v, node.loc));
        let ins = ins.collect::<Result<Vec<Val>, _>>()?;
        let below = new.push(node.op, &ins, node.loc)?;
        let back = Op::Reshape(shapes.result);
        Ok(vec![new.push(back, &[below], node.loc)?])
    })?;
    Ok(dce(&sunk))
}

/// The shape of an elementwise op's result, and the shape in which it can be computed instead.
struct Shapes {
    result: Vec<usize>,
    before: Vec<usize>,
}

impl Shapes {
    fn of(graph: &Growing, node: &Node) -> Option<Self> {
        if !node.op.is_elementwise() {
            return None;
        }
        let ins: Vec<_> = node.ins.iter().map(|v| graph.type_of(*v)).collect();
        let result = node.op.infer(&ins, node.loc).ok()?.swap_remove(0).shape;
        let mut made = node.ins.iter().filter_map(|v| made_in(graph, *v));
        let before = made.find(|shape| *shape != result)?;
        let shapes = Self { result, before };
        let fit = node.ins.iter().all(|v| shapes.fit(graph, *v));
        fit.then_some(shapes)
    }

    /// The shape that a value has in place of its own, which is repeated along dimensions of size 1.
    fn instead(&self, own: &[usize]) -> Option<Vec<usize>> {
        if own.iter().all(|n| *n == 1) {
            return Some(vec![1; self.before.len()]);
        }
        if own == self.result {
            return Some(self.before.clone());
        }
        // Dimensions of size 1 come between.
        let mut left = self.result.iter().zip(own).peekable();
        let dims = self.before.iter().map(|n| {
            let kept = left.next_if(|(size, _)| *size == n);
            kept.map(|(_, own)| *own).or((*n == 1).then_some(1))
        });
        let dims = dims.collect::<Option<Vec<usize>>>();
        dims.filter(|_| left.peek().is_none())
    }

    /// Whether a value can be had in that shape.
    fn fit(&self, graph: &Growing, v: Val) -> bool {
        let Some(shape) = self.instead(graph.shape(v)) else {
            return false;
        };
        let mut chain = graph.producer(v).filter(|_| is_chain(graph, v)).into_iter();
        is_given(graph, v)
            || is_there(graph, v, &shape)
            || chain.any(|node| node.ins.iter().all(|v| self.fit(graph, *v)))
    }

    /// The value in that shape.
    fn view(&self, graph: &mut Growing, v: Val, loc: Loc) -> Result<Val, GraphError> {
        let shape = self.instead(graph.shape(v)).unwrap_or_default();
        let Some(node) = graph.producer(v).filter(|_| !is_given(graph, v)).cloned() else {
            return Ok(graph.push(Op::Reshape(shape), &[v], loc)?);
        };
        if made_in(graph, v).is_some_and(|from| from == shape) {
            return Ok(node.ins[0]);
        }
        if !is_chain(graph, v) {
            return Ok(graph.push(Op::Reshape(shape), &[v], loc)?);
        }
        let ins = node.ins.iter().map(|v| self.view(graph, *v, loc));
        let ins = ins.collect::<Result<Vec<Val>, _>>()?;
        Ok(graph.push(node.op, &ins, node.loc)?)
    }
}

/// The shape in which a value was computed, if a reshape alone gives it. What is permuted before is what a
/// layer made: its rows are a view that ends no kernel.
fn made_in(graph: &Growing, v: Val) -> Option<Vec<usize>> {
    let reshape = graph.producer(v)?;
    let from = *reshape.ins.first()?;
    let is_permuted = |node: &Node| matches!(node.op, Op::Permute(_));
    let made = matches!(reshape.op, Op::Reshape(_))
        && !is_given(graph, from)
        && !graph.producer(from).is_some_and(is_permuted);
    made.then(|| graph.shape(from).to_vec())
}

/// Whether a value is there in a shape: it is a reshape of it, or is reshaped to it elsewhere.
fn is_there(graph: &Growing, v: Val, shape: &[usize]) -> bool {
    let to_shape = |node: &Node| matches!(&node.op, Op::Reshape(to) if to == shape);
    made_in(graph, v).is_some_and(|from| from == shape)
        || graph
            .nodes
            .iter()
            .any(|node| to_shape(node) && node.ins[0] == v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_keep_what_is_repeated() {
        let shapes = Shapes {
            result: vec![3, 8],
            before: vec![3, 1, 8],
        };
        assert_eq!(shapes.instead(&[3, 8]), Some(vec![3, 1, 8]));
        assert_eq!(shapes.instead(&[1, 8]), Some(vec![1, 1, 8]));
        assert_eq!(shapes.instead(&[3, 1]), Some(vec![3, 1, 1]));
        assert_eq!(shapes.instead(&[1]), Some(vec![1, 1, 1]));
        let shapes = Shapes {
            result: vec![2, 6],
            before: vec![2, 3, 2],
        };
        assert_eq!(shapes.instead(&[2, 6]), Some(vec![2, 3, 2]));
        assert_eq!(shapes.instead(&[1, 6]), None);
    }
}
