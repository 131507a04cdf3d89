//! Tracks how much each value reveals of single clients. The checks of differential privacy and the wire
//! table use this analysis.

use std::collections::BTreeSet;

use super::flow::{Analysis, Facts, solve};
use super::{
    ArithOp, ConstEval, ExternalOp, FedOp, Kind, Module, Op, OpKind, OptOp, PrivacyOp, Reduce,
    TreeOp, Value,
};

/// How much a value tells of the data of a single client, from nothing to everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exposure {
    /// Derived from no client's data of this round. What the server knew before the round is
    /// public: it was released by an earlier one. So are counts of examples.
    #[default]
    Public,
    /// Derived from clients' data through noise on a bounded value, by ops on nothing else.
    Noised,
    /// Each client's contribution has a bounded norm.
    Clipped,
    /// Derived from clients' data without a bound.
    Raw,
}

/// The exposure of every value of a linked module.
#[derive(Clone, Debug)]
pub struct Privacy {
    facts: Facts<Fact>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Fact {
    exposure: Exposure,
    /// Results of the reductions and gathers that it is derived from with no noise added since.
    open: BTreeSet<Value>,
    /// Whether it grows with a client's number of examples, of which there may be any number.
    counted: bool,
}

impl Privacy {
    /// Analyses a linked module.
    pub fn of(module: &Module) -> Self {
        Self {
            facts: solve(module, &mut Exposures(ConstEval::of(module))),
        }
    }

    /// The exposure of a value.
    pub fn exposure(&self, value: Value) -> Exposure {
        self.facts
            .get(&value)
            .map_or(Exposure::Public, |fact| fact.exposure)
    }

    /// The aggregates, by their values, that a value tells of without noise.
    pub fn open(&self, value: Value) -> impl Iterator<Item = Value> + '_ {
        let fact = self.facts.get(&value);
        fact.into_iter().flat_map(|fact| fact.open.iter().copied())
    }
}

struct Exposures<'m>(ConstEval<'m>);

impl Exposures<'_> {
    /// The bound `c` of `min(x, c)`, which is `[c if x - c > 0 else x]`, by its place among the operands.
    fn least(&self, select: &Op) -> Option<usize> {
        let [above, bound, of] = select.operands.as_slice() else {
            return None;
        };
        let made = self.0.made(*above)?;
        (made.kind == OpKind::Arith(ArithOp::Sub) && made.operands == [*of, *bound]).then_some(1)
    }

    /// Whether the number of clients in the cohort of a `fed.cohort_size` is fixed before the round, and does not
    /// depend on draws or on data.
    fn has_fixed_size(&self, size: &Op) -> bool {
        let mut cohort = size.operands.first();
        while let Some(op) = cohort.and_then(|v| self.0.made(*v)) {
            match op.kind {
                // A share of another cohort is as fixed as that one.
                OpKind::Fed(FedOp::Sample) if op.operands.len() > 1 => cohort = op.operands.get(1),
                OpKind::Fed(
                    FedOp::Sample
                    | FedOp::AllClients
                    | FedOp::Within
                    | FedOp::Outside
                    | FedOp::Rotating
                    | FedOp::Reshuffled
                    | FedOp::Arrivals,
                ) => return true,
                _ => return false,
            }
        }
        false
    }
}

impl Analysis for Exposures<'_> {
    type Fact = Fact;

    fn join(&self, a: &Fact, b: &Fact) -> Fact {
        Fact {
            exposure: a.exposure.max(b.exposure),
            open: a.open.union(&b.open).copied().collect(),
            counted: a.counted || b.counted,
        }
    }

    fn transfer(&mut self, op: &Op, inputs: &[Fact]) -> Fact {
        use Exposure::{Clipped, Noised, Public, Raw};
        // Of a visit, the other operand says where to and whose.
        let inputs = match op.visits() {
            true => inputs.get(..1).unwrap_or_default(),
            false => inputs,
        };
        let least = Fact::default();
        let all = inputs.iter().fold(least, |all, one| self.join(&all, one));
        let of = |index: usize| inputs.get(index).map_or(Public, |fact| fact.exposure);
        // A clip's bound and a noise's deviation must not be derived from data themselves.
        let fixed = of(1) <= Noised;
        let grows = |index: usize| inputs.get(index).is_some_and(|fact| fact.counted);
        let counted = match op.kind {
            OpKind::Fed(FedOp::NumExamples) => true,
            OpKind::Arith(ArithOp::Select) => match self.least(op) {
                Some(bound) => grows(bound),
                None => all.counted,
            },
            _ => all.counted,
        };
        let exposure = match op.kind {
            OpKind::Fed(FedOp::ServerState(..)) => return Fact::default(),
            // Before it is first set, it is the value of this round that the op reads.
            OpKind::Fed(FedOp::ServerStateOr(_)) => {
                let first = inputs.get(op.operands.len().saturating_sub(1));
                return first.cloned().unwrap_or_default();
            }
            // Of a tensor they read the number of rows alone.
            OpKind::Fed(FedOp::ClientLabels | FedOp::Positions | FedOp::ZeroInputs) => {
                return Fact::default();
            }
            OpKind::Fed(
                FedOp::NumExamples
                | FedOp::ClientNumber
                | FedOp::Seconds
                | FedOp::Uniform(_)
                | FedOp::Normal(_)
                | FedOp::Permutation(_),
            ) => Public,
            OpKind::External(ExternalOp::Column(..))
            | OpKind::Fed(
                FedOp::ClientState(..)
                | FedOp::Personal(..)
                | FedOp::LocalClasses
                | FedOp::LabelCounts,
            ) => Raw,
            OpKind::Privacy(PrivacyOp::Clip | PrivacyOp::ClipRows) if fixed => {
                return Fact {
                    exposure: of(0).min(Clipped),
                    open: all.open,
                    counted: false,
                };
            }
            OpKind::Privacy(PrivacyOp::Noise | PrivacyOp::TreeNoise | PrivacyOp::Laplace)
                if fixed
                    && of(0) == Clipped
                    && op
                        .operands
                        .get(1)
                        .is_none_or(|v| self.0.no_noise(*v).is_none()) =>
            {
                return Fact {
                    exposure: Noised,
                    ..Fact::default()
                };
            }
            // One client more or less is in a cohort that each client may be in or not.
            OpKind::Fed(FedOp::CohortSize) if !self.has_fixed_size(op) => all.exposure.max(Clipped),
            // A client that moves a median moves it by more than its share of a sum.
            OpKind::Fed(FedOp::Reduce(reduce)) if !reduce.is_sum() && all.exposure > Noised => Raw,
            // A weight without a bound: one client may be all of the mean.
            OpKind::Fed(FedOp::Reduce(Reduce::WeightedMean | Reduce::WeightedSum))
                if grows(1) && all.exposure >= Clipped =>
            {
                Raw
            }
            // Of weights that are made of data, one may be close to all of the sum, or all may cancel.
            OpKind::Fed(FedOp::Reduce(Reduce::WeightedMean)) if of(1) > Noised => Raw,
            // A product of two bounded values is bounded by the product of both bounds, which no check computes.
            OpKind::Fed(FedOp::Reduce(Reduce::WeightedSum)) if of(0).min(of(1)) > Noised => Raw,
            // A factor without a bound.
            OpKind::Arith(ArithOp::Mul) | OpKind::Tree(TreeOp::Scale)
                if (grows(0) || grows(1)) && all.exposure >= Clipped =>
            {
                Raw
            }
            // A sum of bounded values is bounded, whatever the signs.
            OpKind::Arith(ArithOp::Add | ArithOp::Sub | ArithOp::Neg)
            | OpKind::Tree(TreeOp::Add | TreeOp::Sub | TreeOp::ReplaceParts(_))
            | OpKind::Fed(
                FedOp::Broadcast
                | FedOp::Dispatch
                | FedOp::Reduce(_)
                | FedOp::Gather
                | FedOp::Scatter
                | FedOp::Concat,
            )
            | OpKind::Privacy(
                PrivacyOp::Noise
                | PrivacyOp::TreeNoise
                | PrivacyOp::Laplace
                | PrivacyOp::Release(_),
            ) => all.exposure,
            // So is a product with what is the same for all clients' data.
            OpKind::Arith(ArithOp::Mul) | OpKind::Tree(TreeOp::Scale)
                if of(0).min(of(1)) <= Noised =>
            {
                all.exposure
            }
            OpKind::Arith(ArithOp::Div) if fixed => all.exposure,
            // Of all else, also of ops yet to come, the norm is not known.
            _ if all.exposure <= Noised => all.exposure,
            _ => Raw,
        };
        let mut open = all.open;
        let aggregates = matches!(
            op.kind,
            OpKind::Fed(FedOp::Reduce(_) | FedOp::Gather | FedOp::CohortSize)
        );
        if aggregates && exposure >= Clipped {
            open.extend(&op.results);
        }
        Fact {
            exposure,
            open,
            counted,
        }
    }

    /// Parameters have the running statistics of what their gradient has read from there on.
    fn advanced(&mut self, op: &Op, inputs: &[Fact]) -> Option<Fact> {
        let of = op.operands.first()?;
        let trained = op.kind == OpKind::Opt(OptOp::Grad)
            && self.0.module().type_of(*of).kind == Kind::Params;
        let all = |all: Fact, one| self.join(&all, one);
        trained.then(|| inputs.iter().fold(Fact::default(), all))
    }
}
