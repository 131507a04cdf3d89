//! `join-products`: matrix products that are added up are one product.
//!
//! A weight that a step uses several times, as a recurrent network does at every word, has a gradient that
//! is a sum of products, each of them as large as the weight. `a b + c d` is `[a c] [b; d]`: one product,
//! which is written once.

use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, GraphError, Node, Op, Val};

use super::dce::dce;
use super::def_use::makers;
use super::rewrite::{Growing, Rewrite};

/// Joins the products in each chain of additions, where copying their operands side by side moves less than
/// writing each result.
///
/// # Errors
///
/// The graph is not well formed.
pub fn join_products(graph: &Graph) -> Result<Graph, GraphError> {
    let chains = Chains::of(graph);
    let joined = Rewrite::run(graph, |rewrite, node| {
        let sum = graph.nodes[rewrite.at].outs[0];
        let Some(Chain { products, others }) = chains.ending_in(sum) else {
            return rewrite.keep(node);
        };
        let renamed = |v: &Val| rewrite.renamed("add", *v);
        let [a, b] = [0, 1].map(|side| {
            let operands = products.iter().map(|operands| renamed(&operands[side]));
            operands.collect::<Result<Vec<Val>, _>>()
        });
        let others = others.iter().map(renamed).collect::<Result<Vec<_>, _>>()?;
        let (a, b, new) = (a?, b?, &mut rewrite.new);
        let [a, b] = [
            side_by_side(new, &a, 1, node.loc)?,
            side_by_side(new, &b, 2, node.loc)?,
        ];
        let mut total = new.push(Op::MatMul, &[a, b], node.loc)?;
        for v in others {
            total = new.push(Op::Add, &[total, v], node.loc)?;
        }
        Ok(vec![total])
    })?;
    Ok(dce(&joined))
}

/// Joins matrices along a dimension, counted from the last. Transposed ones are joined before they are
/// transposed: their values are neighbours there, and a product reads a transposed matrix as it is.
fn side_by_side(
    graph: &mut Growing,
    matrices: &[Val],
    from_last: usize,
    at: Loc,
) -> Result<Val, GraphError> {
    let rank = graph.shape(matrices[0]).len();
    let mut swapped: Vec<usize> = (0..rank).collect();
    swapped.swap(rank - 2, rank - 1);
    let is_swap = |op: &Op| matches!(op, Op::Permute(axes) if *axes == swapped);
    let transposed = |v: &Val| graph.source(*v, is_swap);
    let plain: Option<Vec<Val>> = matrices.iter().map(transposed).collect();
    let Some(plain) = plain else {
        return Ok(graph.push(Op::Cat(rank - from_last), matrices, at)?);
    };
    let joined = graph.push(Op::Cat(rank - (3 - from_last)), &plain, at)?;
    Ok(graph.push(Op::Permute(swapped), &[joined], at)?)
}

/// What a chain of additions adds up.
#[derive(Default)]
struct Chain {
    /// The operands of each product.
    products: Vec<[Val; 2]>,
    /// Other terms.
    others: Vec<Val>,
}

/// The chains of additions of a graph.
struct Chains<'a> {
    graph: &'a Graph,
    /// The node that makes each value.
    makers: Vec<Option<usize>>,
    /// How many read each value, outputs included.
    uses: Vec<usize>,
    /// Whether an addition of the same shape reads it.
    is_term: Vec<bool>,
}

impl<'a> Chains<'a> {
    fn of(graph: &'a Graph) -> Self {
        let mut chains = Self {
            graph,
            makers: makers(graph),
            uses: graph.use_counts(),
            is_term: vec![false; graph.types.len()],
        };
        for node in &graph.nodes {
            for v in &node.ins {
                let adds = node.op == Op::Add && graph.shape(node.outs[0]) == graph.shape(*v);
                chains.is_term[v.0 as usize] |= adds;
            }
        }
        chains
    }

    /// What is added up to `sum`, if it is the last addition of a chain and joining its products pays.
    fn ending_in(&self, sum: Val) -> Option<Chain> {
        if !self.is_addition(sum)
            || (self.is_term[sum.0 as usize] && self.uses[sum.0 as usize] == 1)
        {
            return None;
        }
        let (shape, mut chain) = (self.graph.shape(sum), Chain::default());
        let mut open = vec![sum];
        while let Some(v) = open.pop() {
            // A term that a sum repeats, or that something else reads, stays as it is.
            let single = v == sum || self.uses[v.0 as usize] == 1;
            let own = single && self.graph.shape(v) == shape;
            let node = self.makers[v.0 as usize].map(|i| &self.graph.nodes[i]);
            match node {
                Some(node) if own && node.op == Op::Add => {
                    // The first term comes first.
                    open.extend(node.ins.iter().rev());
                }
                Some(node) if own && node.op == Op::MatMul && self.repeats_none(node, shape) => {
                    chain.products.push([node.ins[0], node.ins[1]]);
                }
                _ => chain.others.push(v),
            }
        }
        self.pays(&chain, shape).then_some(chain)
    }

    fn is_addition(&self, v: Val) -> bool {
        self.makers[v.0 as usize].is_some_and(|i| self.graph.nodes[i].op == Op::Add)
    }

    /// Whether both operands of a product are as many matrices as the result.
    fn repeats_none(&self, product: &Node, shape: &[usize]) -> bool {
        let matrices = shape.len().saturating_sub(2);
        product.ins.iter().all(|v| {
            let operand = self.graph.shape(*v);
            operand.len() == shape.len() && operand[..matrices] == shape[..matrices]
        })
    }

    /// Whether there are several products, of operands of one type that are smaller than the result.
    fn pays(&self, chain: &Chain, shape: &[usize]) -> bool {
        let [.., rows, columns] = *shape else {
            return false;
        };
        let [first, rest @ ..] = chain.products.as_slice() else {
            return false;
        };
        let types = |operands: &[Val; 2]| operands.map(|v| self.graph.type_of(v).dtype);
        let inner = |operands: &[Val; 2]| self.graph.shape(operands[0])[shape.len() - 1];
        let terms: usize = chain.products.iter().map(inner).sum();
        !rest.is_empty()
            && rest.iter().all(|operands| types(operands) == types(first))
            && terms * (rows + columns) < rows * columns
    }
}
