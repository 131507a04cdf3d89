//! Checks that operations combine values of one cohort only.

use std::collections::HashMap;

use super::super::{Broken, FedOp, Module, Op, OpKind, Value, VerifyError};
use super::error;

/// 18. All operands of a `fed.map` and of a reduction are over one cohort. Two draws of
///     `fed.sample` are two cohorts; `fed.all_clients` is always the same. A visit is a cohort of its
///     own, whose values go back to the cohort that they came from, and whose code keeps nothing:
///     it runs several times on each client. The client whose turn it is in a `fed.in_turn` is a cohort of
///     its own, too. A round has `fed.arrivals` once, and its cohort alone
///     began in earlier rounds.
pub(super) fn values_meet_their_own(module: &Module) -> Vec<VerifyError> {
    let mut walk = Walk::default();
    module.all_ops().for_each(|op| walk.op(op));
    walk.errors
}

#[derive(Clone, Copy, PartialEq)]
enum Cohort {
    Everyone,
    Drawn(Value),
    /// The visit that a scatter begins.
    Visit(Value),
}

#[derive(Default)]
struct Walk {
    of: HashMap<Value, Cohort>,
    /// For each visit, the cohort whose values go on it.
    visitors: HashMap<Value, Cohort>,
    /// The cohort of the arrivals.
    arrivals: Option<Value>,
    errors: Vec<VerifyError>,
}

impl Walk {
    fn op(&mut self, op: &Op) {
        self.arrivals(op);
        if op.kind == OpKind::Fed(FedOp::InTurn) {
            // Values of one turn do not meet those of another loop's.
            let one = op.regions.iter().find_map(|body| body.args.first());
            self.of.extend(one.map(|one| (*one, Cohort::Drawn(*one))));
        }
        let cohort = match op.kind {
            OpKind::Fed(FedOp::AllClients) => Some(Cohort::Everyone),
            OpKind::Fed(
                FedOp::Sample
                | FedOp::Within
                | FedOp::Outside
                | FedOp::Rotating
                | FedOp::Reshuffled
                | FedOp::Arrivals
                | FedOp::Choose(_),
            ) => op.results.first().copied().map(Cohort::Drawn),
            OpKind::Fed(FedOp::Members | FedOp::Staleness) => {
                op.operands.first().and_then(|v| self.of.get(v)).copied()
            }
            OpKind::Fed(FedOp::Broadcast | FedOp::Dispatch | FedOp::Restrict) => {
                op.operands.get(1).and_then(|v| self.of.get(v)).copied()
            }
            OpKind::Fed(FedOp::Scatter) if op.visits() => self.depart(op),
            OpKind::Fed(FedOp::Gather) if op.visits() => self.come_back(op),
            OpKind::Fed(
                FedOp::Map
                | FedOp::Mix(_)
                | FedOp::Consensus
                | FedOp::Reduce(_)
                | FedOp::Gather
                | FedOp::Scatter
                | FedOp::Split(_),
            ) => {
                let mut met = op.operands.iter().filter_map(|v| self.of.get(v)).copied();
                let first = met.next();
                if met.any(|other| Some(other) != first) {
                    self.errors.push(error(op, Broken::Cohorts));
                }
                if matches!(first, Some(Cohort::Visit(_))) {
                    let kept = op.with_inner();
                    let kept =
                        kept.filter(|op| matches!(op.kind, OpKind::Fed(FedOp::SetClientState(_))));
                    self.errors
                        .extend(kept.map(|op| error(op, Broken::VisitKeeps)));
                }
                first
            }
            _ => None,
        };
        if let Some(cohort) = cohort
            && !matches!(op.kind, OpKind::Fed(FedOp::Reduce(_)))
        {
            self.of.extend(op.results.iter().map(|v| (*v, cohort)));
        }
    }

    /// What stands for clients that began earlier is of the one cohort that did.
    fn arrivals(&mut self, op: &Op) {
        let of = match op.kind {
            OpKind::Fed(FedOp::Arrivals) if self.arrivals.is_some() => {
                self.errors.push(error(op, Broken::Arrivals));
                return;
            }
            OpKind::Fed(FedOp::Arrivals) => {
                self.arrivals = op.results.first().copied();
                return;
            }
            OpKind::Fed(FedOp::Dispatch) => op.operands.get(1),
            OpKind::Fed(FedOp::Staleness) => op.operands.first(),
            _ => return,
        };
        if of != self.arrivals.as_ref() {
            self.errors.push(error(op, Broken::NotArrivals));
        }
    }

    fn depart(&mut self, op: &Op) -> Option<Cohort> {
        let visit = *op.results.first()?;
        let of = op.operands.first().and_then(|v| self.of.get(v));
        self.visitors.extend(of.map(|of| (visit, *of)));
        Some(Cohort::Visit(visit))
    }

    fn come_back(&mut self, op: &Op) -> Option<Cohort> {
        let mut met = op.operands.iter().map(|v| self.of.get(v).copied());
        let from = match met.next().flatten() {
            Some(Cohort::Visit(visit)) => self.visitors.get(&visit).copied(),
            _ => None,
        };
        if from.is_none() || met.next().flatten() != from {
            self.errors.push(error(op, Broken::Cohorts));
        }
        from
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{ArithOp, Module, Reduce};
    use super::super::testing::{Round, broken, round};
    use super::*;

    /// The weighted mean of values of one cohort by weights of another.
    fn weighted(draw: fn(&mut Round<'_>) -> Value) -> Module {
        round(|b, w| {
            let over = |b: &mut Round<'_>| {
                let cohort = draw(b);
                b.op(OpKind::Fed(FedOp::Broadcast), &[w, cohort])
            };
            let (left, right) = (over(b), over(b));
            let n_k = b.map(right, |b, k, _| b.op(OpKind::Fed(FedOp::NumExamples), &[k]));
            b.op(
                OpKind::Fed(FedOp::Reduce(Reduce::WeightedMean)),
                &[left, n_k],
            )
        })
    }

    #[test]
    fn i18_two_draws_do_not_meet() {
        let drawn = weighted(|b| {
            let half = b.number(0.5);
            b.op(OpKind::Fed(FedOp::Sample), &[half])
        });
        assert_eq!(
            broken(&drawn),
            [("fed.weighted_mean".to_owned(), Broken::Cohorts)]
        );
    }

    #[test]
    fn i18_everyone_is_everyone() {
        assert_eq!(
            broken(&weighted(|b| b.op(OpKind::Fed(FedOp::AllClients), &[]))),
            []
        );
    }

    #[test]
    fn i18_only_arrivals_began_earlier() {
        let began = |draw: fn(&mut Round<'_>) -> Value| {
            round(move |b, w| {
                let cohort = draw(b);
                let sent = b.op(OpKind::Fed(FedOp::Dispatch), &[w, cohort]);
                b.op(OpKind::Fed(FedOp::Reduce(Reduce::Mean)), &[sent])
            })
        };
        let arrivals = |b: &mut Round<'_>| {
            let n = b.op(OpKind::Arith(ArithOp::IndexConst(2)), &[]);
            b.op(OpKind::Fed(FedOp::Arrivals), &[n, n])
        };
        assert_eq!(broken(&began(arrivals)), []);
        assert_eq!(
            broken(&began(|b| b.op(OpKind::Fed(FedOp::AllClients), &[]))),
            [("fed.dispatch".to_owned(), Broken::NotArrivals)]
        );
    }
}
