//! The gradient rule of each op. A rule computes the gradient of each operand from the gradient `g` of
//! the node's first result. In the rules, `y` is the result and `a, b, …` are the operands.
//!
//! Rules only use ops that have rules themselves, so that gradients can be differentiated again.

mod elementwise;
mod layers;
mod structure;

use fedround_ir::tensor::{Family, Graph, Node, Op, TypeError, Val};

use super::error::GradError;

/// The gradients of a node's operands. `None` stands for an operand that is not `wanted` or an integer,
/// and for an op whose derivative is zero everywhere.
///
/// # Errors
///
/// The op has no rule.
pub fn apply(
    graph: &mut Graph,
    node: &Node,
    g: Val,
    wanted: &[bool],
) -> Result<Vec<Option<Val>>, GradError> {
    let mut rule = Rule {
        graph,
        node,
        g,
        wanted,
    };
    match &node.op {
        // Flat wherever they are differentiable, or not meant to be seen through.
        Op::Sign
        | Op::Floor
        | Op::Compare(_)
        | Op::CompareScalar(..)
        | Op::And
        | Op::Or
        | Op::Not
        | Op::StopGradient => Ok(vec![None; node.ins.len()]),
        op => match op.family() {
            Family::Source => Ok(vec![]),
            Family::Elementwise => Ok(elementwise::apply(&mut rule)?),
            Family::Structure => Ok(structure::apply(&mut rule)?),
            Family::Layer => Ok(layers::apply(&mut rule)?),
            Family::Fused => Err(GradError::NoRule {
                op: op.name(),
                loc: node.loc,
            }),
        },
    }
}

/// Gradients of a node's operands.
type Parts = Result<Vec<Option<Val>>, TypeError>;

/// A node being differentiated.
struct Rule<'a> {
    graph: &'a mut Graph,
    node: &'a Node,
    g: Val,
    wanted: &'a [bool],
}

impl Rule<'_> {
    fn wants(&self, i: usize) -> bool {
        self.wanted.get(i).copied().unwrap_or(false)
    }

    /// The gradient of each operand in order, where it is wanted.
    fn each(&mut self, part: impl Fn(&mut Self, usize) -> Result<Val, TypeError>) -> Parts {
        (0..self.node.ins.len())
            .map(|i| self.wants(i).then(|| part(self, i)).transpose())
            .collect()
    }

    fn op(&mut self, op: Op, ins: &[Val]) -> Result<Val, TypeError> {
        self.graph.push(op, ins, self.node.loc)
    }

    fn shape(&self, v: Val) -> Vec<usize> {
        self.graph.shape(v).to_vec()
    }

    /// Zeros in the shape of a value.
    fn zeros(&mut self, like: Val) -> Result<Val, TypeError> {
        let shape = self.shape(like);
        self.op(Op::Full(0.0, shape), &[])
    }

    /// A zero that broadcasts to a value.
    fn zero(&mut self, like: Val) -> Result<Val, TypeError> {
        let rank = self.graph.shape(like).len();
        self.op(Op::Full(0.0, vec![1; rank]), &[])
    }

    fn reshape(&mut self, v: Val, shape: Vec<usize>) -> Result<Val, TypeError> {
        self.op(Op::Reshape(shape), &[v])
    }

    /// Swaps the last two dimensions.
    fn transpose(&mut self, v: Val) -> Result<Val, TypeError> {
        let mut axes: Vec<usize> = (0..self.graph.shape(v).len()).collect();
        let last = axes.len() - 1;
        axes.swap(last - 1, last);
        self.op(Op::Permute(axes), &[v])
    }

    /// Undoes a broadcast: sums `g` over the dimensions that `target` has with size 1.
    fn sum_to(&mut self, mut g: Val, target: Val) -> Result<Val, TypeError> {
        for (d, n) in self.shape(target).into_iter().enumerate() {
            if n == 1 && self.graph.shape(g)[d] != 1 {
                g = self.op(Op::SumDim(d), &[g])?;
            }
        }
        Ok(g)
    }
}
