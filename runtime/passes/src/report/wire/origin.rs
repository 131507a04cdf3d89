//! A forward analysis for the wire table: finds the values that each value is derived from.

use std::collections::{BTreeSet, HashSet};

use fedround_ir::fed::{
    Analysis, ExternalOp, FedOp, Kind, Module, Op, OpKind, OptOp, Place, PrivacyOp, Value,
};

use super::derivation::Derivation;

/// What a value is derived from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Origin {
    global: bool,
    server_state: bool,
    client_state: bool,
    data: bool,
    count: bool,
    /// Whether a client's number or random draws went into it.
    own: bool,
    /// Whether clients may have different ones for another reason, such as noise.
    differs: bool,
    /// Whether it was computed since it was last sent, and not only passed on.
    computed: bool,
    /// Why it may leave its client, from each `priv.release`.
    pub(super) released: BTreeSet<String>,
    /// Whether it is made of an upload of the round.
    aggregate: bool,
}

/// Works out the [`Origin`] of every value.
pub(super) struct Origins<'m> {
    module: &'m Module,
    /// What loops over a client's batches or rows carry: how often these run depends on its examples.
    carried: HashSet<Value>,
}

impl<'m> Origins<'m> {
    pub(super) fn of(module: &'m Module) -> Self {
        let mut carried = HashSet::new();
        for op in module.all_ops() {
            if let OpKind::Opt(OptOp::ForBatches | OptOp::ForRows(_)) = op.kind
                && let (Some((_, own)), [body]) = (op.kind.carried_from(), op.regions.as_slice())
            {
                let args = body.args.iter().skip(own);
                carried.extend(args.filter(|v| module.type_of(**v).place == Place::Client));
            }
        }
        Self { module, carried }
    }

    /// Whether a client gives an op its identity.
    fn of_client(&self, op: &Op) -> bool {
        let mut operands = op.operands.iter();
        operands.any(|value| self.module.type_of(*value).kind == Kind::Client)
    }
}

impl Analysis for Origins<'_> {
    type Fact = Origin;

    fn argument(&self) -> Origin {
        Origin {
            global: true,
            ..Origin::default()
        }
    }

    fn join(&self, a: &Origin, b: &Origin) -> Origin {
        Origin {
            global: a.global || b.global,
            server_state: a.server_state || b.server_state,
            client_state: a.client_state || b.client_state,
            data: a.data || b.data,
            count: a.count || b.count,
            own: a.own || b.own,
            differs: a.differs || b.differs,
            computed: a.computed || b.computed,
            released: a.released.union(&b.released).cloned().collect(),
            aggregate: a.aggregate || b.aggregate,
        }
    }

    fn transfer(&mut self, op: &Op, inputs: &[Origin]) -> Origin {
        let none = Origin::default();
        let mut origin = inputs.iter().fold(none, |all, one| self.join(&all, one));
        // Of the value itself, not of what is computed from it.
        origin.released.clear();
        let sent = matches!(
            op.kind,
            OpKind::Fed(FedOp::Broadcast | FedOp::Dispatch | FedOp::Scatter)
        );
        if sent {
            // A client knows no more of it than that it received it.
            (origin.own, origin.differs, origin.computed) = (false, false, false);
        } else if passes_on(op) {
            origin.computed = inputs.first().is_some_and(|first| first.computed);
        } else {
            origin.computed = true;
            origin.count |= op.operands.iter().any(|v| self.carried.contains(v));
        }
        match &op.kind {
            // A state is an origin of its own, whatever was kept in it.
            OpKind::Fed(FedOp::ServerState(..)) => {
                return Origin {
                    server_state: true,
                    ..Origin::default()
                };
            }
            OpKind::Fed(FedOp::ServerStateOr(_)) => {
                let first = inputs.get(op.operands.len().saturating_sub(1));
                return Origin {
                    server_state: true,
                    ..first.cloned().unwrap_or_default()
                };
            }
            OpKind::Fed(FedOp::ClientState(..) | FedOp::Personal(..)) => {
                let first = inputs.get(1).filter(|_| op.operands.len() > 1);
                return Origin {
                    client_state: true,
                    ..first.cloned().unwrap_or_default()
                };
            }
            // Who is sent something says when it is sent, and nothing of what.
            OpKind::Fed(FedOp::Choose(_) | FedOp::Members | FedOp::CohortSize) => {
                return Origin::default();
            }
            OpKind::Fed(FedOp::NumExamples) => origin.count = true,
            OpKind::Fed(
                FedOp::ClientNumber | FedOp::Uniform(_) | FedOp::Normal(_) | FedOp::Permutation(_),
            ) => origin.own |= self.of_client(op),
            // Each client is sent another one, gets other ones from its neighbours, or draws.
            OpKind::Fed(FedOp::Dispatch | FedOp::Scatter | FedOp::Mix(_) | FedOp::Encode(_))
            | OpKind::Privacy(PrivacyOp::Noise | PrivacyOp::TreeNoise | PrivacyOp::Laplace)
            | OpKind::Opt(OptOp::SampleRows) => origin.differs = true,
            OpKind::External(ExternalOp::Column(..))
            | OpKind::Fed(FedOp::LocalClasses | FedOp::LabelCounts) => origin.data = true,
            OpKind::Privacy(PrivacyOp::Release(why)) => {
                origin.released.insert(why.clone());
            }
            OpKind::Fed(FedOp::Reduce(_) | FedOp::Gather) if self.module.uploads(op) => {
                origin.aggregate = true;
            }
            // What they give is made of their operands alone, or tells of no client's data.
            OpKind::Fed(
                FedOp::Hyper(_)
                | FedOp::RoundIndex
                | FedOp::NumClients
                | FedOp::Sample
                | FedOp::AllClients
                | FedOp::Within
                | FedOp::Outside
                | FedOp::Rotating
                | FedOp::Reshuffled
                | FedOp::Restrict
                | FedOp::NthLargest
                | FedOp::Seconds
                | FedOp::InitialParams(_)
                | FedOp::CurrentCohort
                | FedOp::Arrivals
                | FedOp::Staleness
                | FedOp::Broadcast
                | FedOp::Map
                | FedOp::InTurn
                | FedOp::Reduce(_)
                | FedOp::Gather
                | FedOp::Concat
                | FedOp::Positions
                | FedOp::Pairwise(_)
                | FedOp::Split(_)
                | FedOp::StartParams
                | FedOp::ClientLabels
                | FedOp::EveryClass
                | FedOp::Public(..)
                | FedOp::ZeroInputs
                | FedOp::GlobalParams
                | FedOp::SetServerState(_)
                | FedOp::SetClientState(_)
                | FedOp::Matrix(..)
                | FedOp::Consensus
                | FedOp::Call(_)
                | FedOp::Super(_),
            )
            | OpKind::Arith(_)
            | OpKind::Opt(_)
            | OpKind::External(
                ExternalOp::Apply(_) | ExternalOp::Loss(_) | ExternalOp::Function(_),
            )
            | OpKind::Tree(_)
            | OpKind::Privacy(
                PrivacyOp::Clip | PrivacyOp::ClipRows | PrivacyOp::L1Rows | PrivacyOp::Claim(_),
            ) => {}
        }
        origin
    }
}

/// Whether an op's result is its first operand as it was.
fn passes_on(op: &Op) -> bool {
    matches!(
        op.kind,
        OpKind::Fed(FedOp::Restrict) | OpKind::Privacy(PrivacyOp::Release(_))
    )
}

impl Origin {
    /// What an upload is derived from.
    pub(super) fn up(&self, kind: Kind) -> Derivation {
        let state = self.client_state;
        match kind {
            Kind::Params if self.data => Derivation::Trained { state },
            _ if self.data => Derivation::Computed { state },
            _ if state => Derivation::ClientState,
            Kind::Scalar if self.count => Derivation::ExampleCount,
            Kind::Scalar | Kind::Tensor | Kind::Labels if self.own => Derivation::NumberOrDraw,
            Kind::Scalar if !self.differs => Derivation::SameEverywhere,
            _ if !self.computed => Derivation::AsReceived,
            _ => Derivation::FromReceived { count: self.count },
        }
    }

    /// What a broadcast is derived from.
    pub(super) fn down(&self, kind: Kind) -> Derivation {
        match (kind, self.global, self.server_state) {
            _ if self.aggregate => Derivation::Aggregate,
            (Kind::Params, true, true) => Derivation::GlobalAndState,
            (Kind::Params, false, true) => Derivation::ServerState,
            (Kind::Params, true, false) => Derivation::Global,
            _ => Derivation::Server,
        }
    }
}
