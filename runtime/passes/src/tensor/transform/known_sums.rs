//! `known-sums`: a sum that follows from others is computed from those.
//!
//! Batch normalisation passes back `s·g + t·(x − mean(x))`, with factors `s` and `t` for each channel, and the
//! gradient of the mean is the sum of that. It is `s·sum(g)`: what differs from its mean sums up to zero, and
//! `sum(g)` is the gradient of a parameter. Where all terms are so, the kernel that adds them up is spared.

use std::collections::HashMap;

use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, GraphError, Node, Op, Val};

use super::dce::dce;
use super::rewrite::{Growing, Rewrite};

/// How many ops are looked through at most, one after another.
const DEEP: usize = 8;

/// Computes sums along a dimension, or over the planes of each channel, from others, if no new one is needed.
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
        // This one, and the one that it completes.
        let planes = planes(&rewrite.new, &node).map(|of| (of, Along::Planes));
        let completed = [planes, Some((node.ins[0], Along::Dim(d)))];
        let completed = || completed.into_iter().flatten();
        let mut result = None;
        for (of, along) in completed() {
            let mut known = Known {
                graph: &mut rewrite.new,
                sums: &sums,
                along,
                loc: node.loc,
            };
            result = match known.sum(of, DEEP)? {
                Some(Sum::Of(sum)) => Some(sum),
                Some(Sum::Zero) => {
                    let zeros = Op::Full(0.0, along.summed(rewrite.new.shape(of)));
                    Some(rewrite.new.push(zeros, &[], node.loc)?)
                }
                None => continue,
            };
            break;
        }
        let result = match result {
            Some(known) => known,
            None => rewrite.new.push(node.op, &node.ins, node.loc)?,
        };
        sums.extend(completed().map(|of| (of, result)));
        Ok(vec![result])
    })?;
    Ok(dce(&known))
}

/// What a sum is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Along {
    /// One dimension.
    Dim(usize),
    /// The images and pixels of `[n, c, h, w]`.
    Planes,
}

impl Along {
    fn includes(self, dim: usize) -> bool {
        match self {
            Self::Dim(d) => d == dim,
            Self::Planes => dim != 1,
        }
    }

    /// The shape of the sum of a tensor.
    fn summed(self, shape: &[usize]) -> Vec<usize> {
        let sizes = shape.iter().enumerate();
        sizes
            .map(|(i, n)| if self.includes(i) { 1 } else { *n })
            .collect()
    }
}

/// What a node that is the last of three sums is the sum of, over the images and pixels of `[n, c, h, w]`.
fn planes(graph: &Growing, node: &Node) -> Option<Val> {
    let is_last = node.op == Op::SumDim(3) && graph.shape(node.ins[0]).len() == 4;
    is_last.then_some(())?;
    let along = |v: Val, dim: usize| graph.source(v, |op| *op == Op::SumDim(dim));
    along(along(node.ins[0], 2)?, 0)
}

/// What a value is the mean of, over the images and pixels of `[n, c, h, w]`.
fn mean_of_planes(graph: &Growing, mean: Val) -> Option<Val> {
    let means = graph.source(mean, |op| matches!(op, Op::Reshape(_)))?;
    let of_planes = graph.source(means, |op| *op == Op::MeanDim(0))?;
    let rows = graph.source(of_planes, |op| *op == Op::MeanDim(2))?;
    let of = graph.source(rows, |op| matches!(op, Op::Reshape(_)))?;
    let [n, c, h, w] = *graph.shape(of) else {
        return None;
    };
    let is_of_planes = graph.shape(rows) == [n, c, h * w] && graph.shape(mean) == [1, c, 1, 1];
    is_of_planes.then_some(of)
}

/// A sum that no reduction is needed for.
enum Sum {
    Zero,
    Of(Val),
}

struct Known<'a> {
    graph: &'a mut Growing,
    /// The sums that are there, by what they are of and over what.
    sums: &'a HashMap<(Val, Along), Val>,
    along: Along,
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
            (Op::Neg | Op::MulScalar(_), &[x]) => self.scaled(&node.op, x, None, deeper),
            (Op::Mul | Op::Div, &[x, factor]) if self.is_factor(factor, x, v) => {
                self.scaled(&node.op, x, Some(factor), deeper)
            }
            (Op::Mul, &[factor, x]) if self.is_factor(factor, x, v) => {
                self.scaled(&node.op, x, Some(factor), deeper)
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

    /// The sum of what an op makes of `x` with a factor, or by itself.
    fn scaled(
        &mut self,
        op: &Op,
        x: Val,
        factor: Option<Val>,
        deep: usize,
    ) -> Result<Option<Sum>, GraphError> {
        Ok(match self.sum(x, deep)? {
            Some(Sum::Of(sum)) => {
                let ins: Vec<Val> = [sum].into_iter().chain(factor).collect();
                Some(Sum::Of(self.graph.push(op.clone(), &ins, self.loc)?))
            }
            other => other,
        })
    }

    /// Whether `v` is `x` times or divided by what is the same for all that is summed.
    fn is_factor(&self, factor: Val, x: Val, v: Val) -> bool {
        let (factor, x) = (self.graph.shape(factor), self.graph.shape(x));
        let mut summed = (0..x.len()).filter(|dim| self.along.includes(*dim));
        x == self.graph.shape(v)
            && factor.len() == x.len()
            && factor != x
            && summed.all(|dim| factor[dim] == 1)
    }

    fn is_mean(&self, mean: Val, x: Val) -> bool {
        match self.along {
            Along::Planes => mean_of_planes(self.graph, mean) == Some(x),
            Along::Dim(dim) => self.graph.source(mean, |op| *op == Op::MeanDim(dim)) == Some(x),
        }
    }
}
