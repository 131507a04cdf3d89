//! Finds steps of the server that move the running statistics of the model.
//!
//! Running statistics, such as those of batch normalisation, are means, which a mean over clients keeps. A
//! momentum, an adaptive step or a step size above 1 makes something else of them, such as negative
//! variances.

use fedround_ir::Loc;
use fedround_ir::fed::{
    Analysis, ConstEval, FedOp, Hook, Kind, Module, Op, OpKind, OptOp, Place, PrivacyOp, Reduce,
    TreeOp, solve,
};

/// The op that moves the running statistics of the next global parameters away from a mean of models;
/// `None` if no op is known to.
pub fn moved_statistics(module: &Module) -> Option<Loc> {
    let facts = solve(module, &mut Statistics(ConstEval::of(module)));
    let round = module.funcs.iter().find(|func| func.hook == Hook::Round)?;
    facts.get(round.body.yields.first()?)?.moved
}

/// What the running statistics of parameters are made of.
#[derive(Clone, Debug, Default, PartialEq)]
struct Fact {
    models: Models,
    /// The first op that moved them.
    moved: Option<Loc>,
}

impl Fact {
    /// What is made of these parameters alone.
    fn with(&self, models: Models) -> Self {
        Self { models, ..*self }
    }
}

/// How many models are added up in parameters: one in a mean of models, none in a difference of two.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Models {
    /// The parameters are zero, or nothing has been computed yet.
    #[default]
    Zero,
    Count(f64),
    /// The parameters are a sum of directions. A number that is known in the round alone may yet make a mean of
    /// it.
    Sum,
    Unknown,
}

impl Models {
    /// Whether the parameters are a direction in which models are moved.
    fn is_direction(self) -> bool {
        match self {
            Self::Count(n) => n.abs() < TOLERANCE,
            Self::Sum => true,
            Self::Zero | Self::Unknown => false,
        }
    }

    /// How many they are, as far as that is known.
    fn count(self) -> f64 {
        match self {
            Self::Count(n) => n,
            Self::Zero | Self::Sum | Self::Unknown => 0.0,
        }
    }

    /// The statistics of `a + by · b`.
    fn plus(self, by: f64, other: Self) -> Self {
        match (self, other) {
            (a, Self::Zero) => a,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Sum, n) | (n, Self::Sum) if n.count().abs() < TOLERANCE => Self::Sum,
            (a, b) => Self::Count(a.count() + by * b.count()),
        }
    }
}

/// Shares that hyper-parameters divide a whole into, such as `1 − α` and `α`, sum to 1 within it.
const TOLERANCE: f64 = 1e-5;

struct Statistics<'m>(ConstEval<'m>);

impl Statistics<'_> {
    fn on_server(&self, op: &Op) -> bool {
        let result = op
            .results
            .first()
            .map(|v| self.0.module().type_of(*v).place);
        matches!(result, Some(Place::Server | Place::Gathered))
    }

    /// The result of an op that makes another direction of a direction.
    fn moved(&self, op: &Op, direction: &Fact) -> Fact {
        let moves = self.on_server(op) && direction.models.is_direction();
        Fact {
            models: direction.models,
            moved: direction.moved.or(moves.then_some(op.loc)),
        }
    }
}

impl Analysis for Statistics<'_> {
    type Fact = Fact;

    fn argument(&self) -> Fact {
        Fact {
            models: Models::Count(1.0),
            moved: None,
        }
    }

    fn join(&self, a: &Fact, b: &Fact) -> Fact {
        let models = match (a.models, b.models) {
            (Models::Zero, models) | (models, Models::Zero) => models,
            (Models::Sum, other) | (other, Models::Sum) if other.is_direction() => Models::Sum,
            (Models::Count(a), Models::Count(b)) if (a - b).abs() < TOLERANCE => Models::Count(a),
            _ => Models::Unknown,
        };
        Fact {
            models,
            moved: a.moved.or(b.moved),
        }
    }

    fn transfer(&mut self, op: &Op, inputs: &[Fact]) -> Fact {
        let is_params = |v| self.0.module().type_of(v).kind == Kind::Params;
        if !op.results.iter().any(|v| is_params(*v)) {
            return Fact::default();
        }
        match &op.kind {
            OpKind::Fed(kind) => self.of_fed(op, kind, inputs),
            OpKind::Tree(kind) => self.of_tree(op, kind, inputs),
            OpKind::Privacy(PrivacyOp::Clip | PrivacyOp::Noise | PrivacyOp::TreeNoise) => {
                self.changed(op, inputs.first(), inputs)
            }
            // Of running statistics there is no gradient.
            OpKind::Opt(OptOp::Grad) => Fact::default(),
            OpKind::Opt(_) | OpKind::Privacy(_) | OpKind::Arith(_) | OpKind::External(_) => {
                unknown(inputs)
            }
        }
    }
}

impl Statistics<'_> {
    fn of_fed(&self, op: &Op, kind: &FedOp, inputs: &[Fact]) -> Fact {
        match (kind, inputs) {
            (FedOp::InitialParams(_), _) => self.argument(),
            (
                FedOp::Broadcast
                | FedOp::Dispatch
                | FedOp::Scatter
                | FedOp::Gather
                | FedOp::Restrict
                | FedOp::Mix(_)
                | FedOp::Consensus
                | FedOp::Encode(_)
                | FedOp::Reduce(
                    Reduce::Mean | Reduce::WeightedMean | Reduce::Median | Reduce::TrimmedMean,
                ),
                [a, ..],
            ) => a.clone(),
            // A sum has as many models, or differences of models, as there are clients.
            (FedOp::Reduce(Reduce::Sum | Reduce::WeightedSum), [a, ..]) => match a.models {
                Models::Zero => a.clone(),
                models if models.is_direction() => a.with(Models::Sum),
                _ => unknown(inputs),
            },
            // A direction that the server keeps is a momentum.
            (FedOp::ServerState(..), [kept]) => self.moved(op, kept),
            (FedOp::ServerStateOr(_), [first, kept]) => self.moved(op, &self.join(first, kept)),
            // What is kept for one client is its own, such as its distance from the server's model.
            (FedOp::ServerState(..) | FedOp::ClientState(..), [.., kept]) => kept.clone(),
            (FedOp::ServerStateOr(_) | FedOp::Personal(..), [.., first, kept]) => {
                self.join(first, kept)
            }
            _ => unknown(inputs),
        }
    }

    fn of_tree(&self, op: &Op, kind: &TreeOp, inputs: &[Fact]) -> Fact {
        match (kind, inputs) {
            (TreeOp::Add | TreeOp::Sub, [a, b]) => {
                let by = if *kind == TreeOp::Sub { -1.0 } else { 1.0 };
                Fact {
                    models: a.models.plus(by, b.models),
                    moved: a.moved.or(b.moved),
                }
            }
            (TreeOp::Scale, [_, a]) => self.scaled(op, a),
            (TreeOp::Choose | TreeOp::Select, [_, a, b]) => self.join(a, b),
            (TreeOp::ReplaceParts(parts), [a, b]) => {
                let all = ["Buffer", "BatchNorm", "Model"];
                match parts.iter().any(|part| all.contains(&&**part)) {
                    true => b.clone(),
                    false => a.clone(),
                }
            }
            (TreeOp::Mul | TreeOp::Div, _) => self.changed(op, inputs.first(), inputs),
            (TreeOp::Clamp, _) => self.changed(op, inputs.get(2), inputs),
            _ => unknown(inputs),
        }
    }

    /// Parameters times the first operand of an op.
    fn scaled(&self, op: &Op, of: &Fact) -> Fact {
        let by = op.operands.first().and_then(|v| self.0.number(*v));
        match (by, of.models) {
            (Some(0.0), _) => Fact::default(),
            // Part of the way is between models.
            (Some(by), models) if by.abs() <= 1.0 + TOLERANCE => {
                of.with(Models::Zero.plus(by, models))
            }
            (Some(by), Models::Count(n)) if !of.models.is_direction() => {
                of.with(Models::Count(by * n))
            }
            (None, Models::Count(_)) if !of.models.is_direction() => of.with(Models::Unknown),
            // A mean divides a sum by what is known in the round alone, such as the size of its cohort.
            (None, Models::Sum) => of.with(Models::Count(0.0)),
            _ => self.moved(op, of),
        }
    }

    /// The result of an op that changes `of`, one of its inputs, entry by entry.
    fn changed(&self, op: &Op, of: Option<&Fact>, inputs: &[Fact]) -> Fact {
        match of {
            Some(of) if of.models.is_direction() => self.moved(op, of),
            _ => unknown(inputs),
        }
    }
}

/// Parameters that are made of these in an unknown way.
fn unknown(inputs: &[Fact]) -> Fact {
    Fact {
        models: Models::Unknown,
        moved: inputs.iter().find_map(|fact| fact.moved),
    }
}

#[cfg(test)]
#[path = "moved_statistics_tests.rs"]
mod tests;
