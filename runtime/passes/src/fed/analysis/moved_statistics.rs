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

    /// Those of `a + by · b`.
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
                models if models.is_direction() => Fact {
                    models: Models::Sum,
                    moved: a.moved,
                },
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
            (Some(by), models) if by.abs() <= 1.0 + TOLERANCE => Fact {
                models: Models::Zero.plus(by, models),
                moved: of.moved,
            },
            (Some(by), Models::Count(n)) if !of.models.is_direction() => Fact {
                models: Models::Count(by * n),
                moved: of.moved,
            },
            (None, Models::Count(_)) if !of.models.is_direction() => Fact {
                models: Models::Unknown,
                moved: of.moved,
            },
            // A mean divides a sum by what is known in the round alone, such as the size of its cohort.
            (None, Models::Sum) => Fact {
                models: Models::Count(0.0),
                moved: of.moved,
            },
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
mod tests {
    use fedround::prelude::*;
    use fedround::{Definer, ServerCx};

    use super::*;
    use crate::testing::{Closure, linked};

    type Step = fn(&ServerCx, Server<Params>, Server<Params>) -> Server<Params>;
    type Combine = fn(Server<Params>, &Clients<Params>) -> Server<Params>;

    /// The same of a step from what each client has sent.
    fn combining_moves(combine: Combine) -> bool {
        let own = Closure(move |m: &mut Definer| {
            m.round(|server, w| {
                let d_k = w.broadcast(&server.all_clients()).map(|k, w| {
                    let b = k.batch(10);
                    let g = grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y));
                    (&w - 0.1 * g) - w
                });
                combine(w, &d_k)
            });
        });
        moved_statistics(&linked(&own)).is_some()
    }

    /// Whether a round moves running statistics.
    fn round_moves(round: fn(&ServerCx, Server<Params>) -> Server<Params>) -> bool {
        let own = Closure(move |m: &mut Definer| m.round(round));
        moved_statistics(&linked(&own)).is_some()
    }

    /// The sum of what the clients of a cohort send, each within a bound.
    fn sum(w: &Server<Params>, cohort: &Cohort) -> Server<Params> {
        let d_k = w.broadcast(cohort).map(|k, w| {
            let b = k.batch(10);
            let g = grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y));
            ((&w - 0.1 * g) - w).clip(1.0)
        });
        d_k.sum()
    }

    /// Whether a step of the server from its model and the mean of the clients' moves running statistics.
    fn moves(step: Step) -> bool {
        let own = Closure(move |m: &mut Definer| {
            m.round(|server, w| {
                let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
                    let b = k.batch(10);
                    let g = grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y));
                    w - 0.1 * g
                });
                step(server, w, w_k.mean())
            });
        });
        moved_statistics(&linked(&own)).is_some()
    }

    #[test]
    fn means_and_parts_of_the_way_are_between_models() {
        assert!(!moves(|_, _, mean| mean));
        assert!(!moves(|_, w, mean| &w + 0.5 * (mean - &w)));
        assert!(!moves(|_, w, mean| 0.3 * w + 0.7 * mean));
        assert!(!moves(|server, w, mean| {
            let kept = server.state_or("kept", &w);
            let next = 0.9 * kept + 0.1 * mean;
            server.set_state("kept", &next);
            next
        }));
    }

    /// They are means, which divide sums by what is known in the round alone.
    #[test]
    fn quotients_of_sums_are_not_known_to_move_them() {
        assert!(!combining_moves(|w, d_k| {
            let n = d_k.map(|k, _| k.num_examples()).sum();
            w + d_k.map(|k, d| k.num_examples() * d).sum() / n
        }));
        assert!(!combining_moves(|w, d_k| {
            let a_k = d_k.map(|_, d| d.sq_norm());
            w + d_k.weighted_sum(&a_k) / a_k.sum()
        }));
        assert!(!combining_moves(|w, d_k| w + d_k.mean()));
    }

    #[test]
    fn sums_move_them_as_means_do() {
        assert!(!round_moves(|server, w| {
            let s_t = server.sample(0.5);
            let sum = sum(&w, &s_t);
            w + 0.5 * sum / s_t.num_clients()
        }));
        assert!(!round_moves(|server, w| {
            let sum = sum(&w, &server.all_clients());
            w + sum / 100.0
        }));
        assert!(round_moves(|server, w| {
            let sum = sum(&w, &server.bernoulli(0.5));
            w + sum.noise(0.1) / server.num_clients()
        }));
        assert!(round_moves(|server, w| {
            let s_t = server.reshuffled(5_usize);
            let sum = sum(&w, &s_t);
            w + sum.tree_noise(0.1, &s_t) / 5.0
        }));
        assert!(round_moves(|server, w| {
            let s_t = server.sample(0.5);
            let v = 0.9 * server.state("v") + sum(&w, &s_t) / s_t.num_clients();
            server.set_state("v", &v);
            w + v
        }));
        assert!(round_moves(|server, w| {
            let s_t = server.sample(0.5);
            let sum = sum(&w, &s_t);
            w + 1.5 * (sum / s_t.num_clients())
        }));
    }

    #[test]
    fn noise_and_bounds_move_them() {
        assert!(combining_moves(|w, d_k| w + d_k
            .mean()
            .clip(1.0)
            .noise(0.1)));
        assert!(combining_moves(|w, d_k| w + d_k.mean().clip(1.0)));
        // Nobody knows before the round how far this goes.
        assert!(combining_moves(|w, d_k| {
            let far = d_k.map(|_, d| d.sq_norm()).mean();
            w + far * d_k.mean()
        }));
    }

    fn momentum(server: &ServerCx, w: &Server<Params>, mean: &Server<Params>) -> Server<Params> {
        let v = 0.9 * server.state("v") + (mean - w);
        server.set_state("v", &v);
        w + v
    }

    #[test]
    fn momenta_long_and_adaptive_steps_move_them() {
        assert!(moves(|server, w, mean| momentum(server, &w, &mean)));
        assert!(moves(|_, w, mean| &w + 1.5 * (mean - &w)));
        assert!(moves(|_, w, mean| {
            let delta = mean - &w;
            w + 0.1 * delta.div(&delta.mul(&delta).sqrt().add_scalar(0.001))
        }));
    }

    #[test]
    fn restored_statistics_are_not_moved() {
        assert!(!moves(|server, w, mean| {
            momentum(server, &w, &mean).replace_parts(&["Buffer"], &mean)
        }));
        assert!(moves(|server, w, mean| {
            momentum(server, &w, &mean).replace_parts(&["head"], &mean)
        }));
    }
}
