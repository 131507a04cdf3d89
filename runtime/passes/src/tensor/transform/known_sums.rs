//! `known-sums`: a sum that follows from others is computed from those.
//!
//! Batch normalisation passes back `s·g + t·(x − mean(x))`, with factors `s` and `t` for each channel, and the
//! gradient of the mean is the sum of that. It is `s·sum(g)`: what differs from its mean sums up to zero, and
//! `sum(g)` is the gradient of a parameter. Where all terms are so, the kernel that adds them up is spared.

use std::collections::HashMap;

use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, GraphError, Op, TypeError, Val};

use super::dce::dce;
use super::rewrite::{Growing, Rewrite};

/// How many ops are looked through at most, one after another.
const DEEP: usize = 8;

/// Computes sums along a dimension from others, if no new one is needed.
///
/// # Errors
///
/// The graph is not well formed.
pub fn known_sums(graph: &Graph) -> Result<Graph, GraphError> {
    let mut sums = HashMap::new();
    let known = Rewrite::run(graph, |rewrite, node| {
        let Op::SumDim(d) = node.op else {
            return rewrite.keep(node);
        };
        let of = node.ins[0];
        let mut known = Known {
            graph: &mut rewrite.new,
            sums: &sums,
            along: d,
            loc: node.loc,
        };
        let sum = match known.sum(of, DEEP)? {
            Some(Sum::Of(sum)) => sum,
            Some(Sum::Zero) => {
                let mut shape = rewrite.new.shape(of).to_vec();
                shape[d] = 1;
                rewrite.new.push(Op::Full(0.0, shape), &[], node.loc)?
            }
            None => rewrite.new.push(node.op, &[of], node.loc)?,
        };
        sums.insert((of, d), sum);
        Ok(vec![sum])
    })?;
    Ok(dce(&known))
}

/// A sum that no reduction is needed for.
enum Sum {
    Zero,
    Of(Val),
}

struct Known<'a> {
    graph: &'a mut Growing,
    /// The sums that are there, by what they are of and along which dimension.
    sums: &'a HashMap<(Val, usize), Val>,
    along: usize,
    loc: Loc,
}

impl Known<'_> {
    fn sum(&mut self, v: Val, deep: usize) -> Result<Option<Sum>, GraphError> {
        if let Some(sum) = self.sums.get(&(v, self.along)) {
            return Ok(Some(Sum::Of(*sum)));
        }
        let Some((node, deeper)) = self.graph.producer(v).cloned().zip(deep.checked_sub(1)) else {
            return Ok(None);
        };
        match (&node.op, &node.ins[..]) {
            (Op::Neg | Op::MulScalar(_), &[x]) => {
                let sum = self.sum(x, deeper)?;
                self.map(sum, |this, sum| {
                    this.graph.push(node.op.clone(), &[sum], this.loc)
                })
            }
            (Op::Mul, &[x, factor]) if self.is_factor(factor, x, v) => {
                self.scaled(Op::Mul, x, factor, deeper)
            }
            (Op::Mul, &[factor, x]) if self.is_factor(factor, x, v) => {
                self.scaled(Op::Mul, x, factor, deeper)
            }
            (Op::Div, &[x, factor]) if self.is_factor(factor, x, v) => {
                self.scaled(Op::Div, x, factor, deeper)
            }
            (Op::Sub, &[x, mean]) if self.is_mean(mean, x) => Ok(Some(Sum::Zero)),
            (Op::Add, &[x, y]) if self.graph.shape(x) == self.graph.shape(y) => {
                let Some(x) = self.sum(x, deeper)? else {
                    return Ok(None);
                };
                Ok(match (x, self.sum(y, deeper)?) {
                    (_, None) => None,
                    (Sum::Zero, Some(y)) => Some(y),
                    (x, Some(Sum::Zero)) => Some(x),
                    (Sum::Of(x), Some(Sum::Of(y))) => {
                        Some(Sum::Of(self.graph.push(Op::Add, &[x, y], self.loc)?))
                    }
                })
            }
            _ => Ok(None),
        }
    }

    fn scaled(
        &mut self,
        op: Op,
        x: Val,
        factor: Val,
        deep: usize,
    ) -> Result<Option<Sum>, GraphError> {
        let sum = self.sum(x, deep)?;
        self.map(sum, |this, sum| {
            this.graph.push(op, &[sum, factor], this.loc)
        })
    }

    fn map(
        &mut self,
        sum: Option<Sum>,
        of: impl FnOnce(&mut Self, Val) -> Result<Val, TypeError>,
    ) -> Result<Option<Sum>, GraphError> {
        Ok(match sum {
            Some(Sum::Of(sum)) => Some(Sum::Of(of(self, sum)?)),
            other => other,
        })
    }

    /// Whether `v` is `x` times or divided by what is the same along the dimension.
    fn is_factor(&self, factor: Val, x: Val, v: Val) -> bool {
        self.graph.shape(x) == self.graph.shape(v)
            && self.graph.shape(factor).get(self.along) == Some(&1)
            && self.graph.shape(x)[self.along] > 1
    }

    fn is_mean(&self, mean: Val, x: Val) -> bool {
        self.graph
            .producer(mean)
            .is_some_and(|node| node.op == Op::MeanDim(self.along) && node.ins[0] == x)
    }
}
