//! A forward analysis that finds leaves of parameters that are zero, or unchanged since the round began.

use std::collections::{HashMap, HashSet};

use fedround_ir::fed::{
    Access, Analysis, ArithOp, FedOp, Math, Module, Op, OpKind, PrivacyOp, Reduce, TreeOp, Value,
    solve,
};

use super::leaves::Leaves;

/// The leaves of each value that are zero where the value is defined. Buffers are not considered, since
/// training updates them: [`zero_trees`] does.
pub fn zeros(module: &Module) -> HashMap<Value, Leaves> {
    let resumes = module.resumes;
    let facts = solve(module, &mut Unchanging { resumes }).into_iter();
    facts.map(|(value, fact)| (value, fact.zero)).collect()
}

/// The trees whose leaves are all zero, buffers included: those that are written as zero times another
/// tree, such as the momentum before the first step. A tree that a gradient is taken with respect to is
/// none of them, since training updates its buffers.
pub fn zero_trees(module: &Module) -> HashSet<Value> {
    let (mut numbers, mut trees) = (HashSet::<Value>::new(), HashSet::<Value>::new());
    for op in module.all_ops() {
        match op.kind {
            OpKind::Arith(ArithOp::Const(0.0)) => numbers.extend(&op.results),
            OpKind::Tree(TreeOp::Scale) if op.operands.iter().any(|v| numbers.contains(v)) => {
                trees.extend(&op.results);
            }
            _ => {}
        }
    }
    for trained in module.all_ops().flat_map(Op::differentiated) {
        trees.remove(&trained);
    }
    trees
}

/// What is certain about the leaves of a tree. The default, for a value without operands, is everything.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unchanged {
    /// The leaves that are those of the round's argument.
    pub same: Leaves,
    /// The leaves that are zero. A number that is written as zero has all.
    pub zero: Leaves,
}

impl Default for Unchanged {
    fn default() -> Self {
        let all = Leaves::all();
        Self {
            same: all.clone(),
            zero: all,
        }
    }
}

impl Unchanged {
    fn zero(zero: Leaves) -> Self {
        Self {
            same: Leaves::default(),
            zero,
        }
    }

    fn and(&self, other: &Self) -> Self {
        Self {
            same: self.same.and(&other.same),
            zero: self.zero.and(&other.zero),
        }
    }

    /// These facts, with those of another tree for the named parts.
    fn replace_parts(&self, names: &[String], taken: &Self) -> Self {
        let with = |own: &Leaves, taken: &Leaves| {
            let taken = taken.and(&Leaves::named(names));
            own.minus(names).or(&taken)
        };
        Self {
            same: with(&self.same, &taken.same),
            zero: with(&self.zero, &taken.zero),
        }
    }
}

/// The analysis that computes [`Unchanged`] for every value.
pub(super) struct Unchanging {
    /// Whether states may come from an earlier phase.
    pub resumes: bool,
}

impl Analysis for Unchanging {
    type Fact = Unchanged;

    fn argument(&self) -> Unchanged {
        Unchanged {
            same: Leaves::all(),
            zero: Leaves::default(),
        }
    }

    fn join(&self, a: &Unchanged, b: &Unchanged) -> Unchanged {
        a.and(b)
    }

    fn transfer(&mut self, op: &Op, inputs: &[Unchanged]) -> Unchanged {
        let unknown = Unchanged::zero(Leaves::default());
        match (&op.kind, inputs) {
            (OpKind::Arith(ArithOp::Const(0.0)), _) => Unchanged::zero(Leaves::all()),
            (
                OpKind::Fed(
                    FedOp::Broadcast
                    | FedOp::Scatter
                    | FedOp::Gather
                    | FedOp::Reduce(
                        Reduce::Mean | Reduce::WeightedMean | Reduce::Median | Reduce::TrimmedMean,
                    ),
                ),
                [a, ..],
            ) => a.clone(),
            (
                OpKind::Fed(FedOp::Reduce(Reduce::Sum | Reduce::WeightedSum))
                | OpKind::Privacy(PrivacyOp::Clip)
                | OpKind::Tree(TreeOp::Div),
                [a, ..],
            )
            | (OpKind::Tree(TreeOp::Math(Math::Sqrt)), [a]) => Unchanged::zero(a.zero.clone()),
            (OpKind::Tree(TreeOp::Scale | TreeOp::Mul), [a, b]) => {
                Unchanged::zero(a.zero.or(&b.zero))
            }
            (OpKind::Tree(TreeOp::Add), [a, b]) => Unchanged {
                same: a.same.and(&b.zero).or(&a.zero.and(&b.same)),
                zero: a.zero.and(&b.zero),
            },
            (OpKind::Tree(TreeOp::Sub), [a, b]) => Unchanged {
                same: a.same.and(&b.zero),
                zero: a.same.and(&b.same).or(&a.zero.and(&b.zero)),
            },
            (OpKind::Tree(TreeOp::Select | TreeOp::Choose), [_, a, b]) => a.and(b),
            (OpKind::Tree(TreeOp::ReplaceParts(names)), [a, b]) => a.replace_parts(names, b),
            // What was kept is of an earlier round, of which the argument may have been another.
            // A state is zeros before it is first set.
            (kind, inputs) => match (kind.state().map(|state| state.access), inputs) {
                _ if self.resumes => unknown,
                (Some(Access::Read), [.., kept]) => Unchanged::zero(kept.zero.clone()),
                (Some(Access::ReadOr), [.., first, kept]) => {
                    Unchanged::zero(first.zero.and(&kept.zero))
                }
                _ => unknown,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use fedround::__private::for_each;
    use fedround::prelude::*;
    use fedround::{ClientCx, Definer};

    use super::zero_trees;
    use crate::testing::{Closure, linked};

    type Gradient = fn(&ClientCx, &Batch, &Params, &Params) -> Params;

    /// The number of zero trees in a round of steps with momentum. The gradient of a step may use its
    /// client, its batch, the parameters and a tree of zeros.
    fn found(gradient: Gradient) -> usize {
        let own = Closure(move |m: &mut Definer| {
            m.round(|server, w| {
                let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
                    let begin = (w.clone(), w.zeros_like());
                    let (w, _) = for_each(k.batches(1, 10), begin, |b, (w, v)| {
                        let v = v * 0.9 + gradient(k, &b, &w, &w.zeros_like());
                        (w - 0.1 * &v, v)
                    });
                    w
                });
                w_k.mean()
            });
        });
        zero_trees(&linked(&own)).len()
    }

    fn gradient(k: &ClientCx, w: &Params, b: &Batch) -> Params {
        grad(w, |w| cross_entropy(k.forward(w, &b.x), &b.y))
    }

    #[test]
    fn trees_of_zeros_are_zero_unless_they_are_trained() {
        assert_eq!(found(|k, b, w, _| gradient(k, w, b)), 1);
        assert_eq!(
            found(|k, b, w, zeros| gradient(k, w, b) + zeros.clip(1.0)),
            2
        );
        assert_eq!(found(|k, b, _, zeros| gradient(k, zeros, b)), 1);
    }
}
