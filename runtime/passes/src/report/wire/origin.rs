//! A forward analysis for the wire table: finds the values that each value is derived from.

use std::collections::BTreeSet;
use std::fmt;

use fedround_ir::fed::{Analysis, ExternalOp, FedOp, Kind, Module, Op, OpKind, PrivacyOp};

/// What a value is derived from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Origin {
    global: bool,
    server_state: bool,
    client_state: bool,
    data: bool,
    count: bool,
    /// Why it may leave its client, from each `priv.release`.
    pub(super) released: BTreeSet<String>,
    /// Whether it is made of an upload of the round.
    aggregate: bool,
}

/// Works out the [`Origin`] of every value.
pub(super) struct Origins<'m>(pub(super) &'m Module);

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
            released: a.released.union(&b.released).cloned().collect(),
            aggregate: a.aggregate || b.aggregate,
        }
    }

    fn transfer(&mut self, op: &Op, inputs: &[Origin]) -> Origin {
        let none = Origin::default();
        let mut origin = inputs.iter().fold(none, |all, one| self.join(&all, one));
        // Of the value itself, not of what is computed from it.
        origin.released.clear();
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
            OpKind::Fed(FedOp::Choose(_) | FedOp::Members) => {
                return Origin::default();
            }
            OpKind::Fed(FedOp::NumExamples) => origin.count = true,
            OpKind::External(ExternalOp::Column(..)) | OpKind::Fed(FedOp::LocalClasses) => {
                origin.data = true
            }
            OpKind::Privacy(PrivacyOp::Release(why)) => {
                origin.released.insert(why.clone());
            }
            OpKind::Fed(FedOp::Reduce(_) | FedOp::Gather) if self.0.uploads(op) => {
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
                | FedOp::Uniform(_)
                | FedOp::Normal(_)
                | FedOp::Permutation(_)
                | FedOp::InitialParams(_)
                | FedOp::CurrentCohort
                | FedOp::Arrivals
                | FedOp::Dispatch
                | FedOp::Staleness
                | FedOp::Broadcast
                | FedOp::Map
                | FedOp::InTurn
                | FedOp::Reduce(_)
                | FedOp::Gather
                | FedOp::Scatter
                | FedOp::Concat
                | FedOp::Positions
                | FedOp::Pairwise(_)
                | FedOp::Split(_)
                | FedOp::ClientNumber
                | FedOp::StartParams
                | FedOp::ClientLabels
                | FedOp::EveryClass
                | FedOp::Public(..)
                | FedOp::ZeroInputs
                | FedOp::GlobalParams
                | FedOp::SetServerState(_)
                | FedOp::SetClientState(_)
                | FedOp::Encode(_)
                | FedOp::Matrix(..)
                | FedOp::Mix(_)
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
                PrivacyOp::Clip
                | PrivacyOp::Noise
                | PrivacyOp::TreeNoise
                | PrivacyOp::ClipRows
                | PrivacyOp::Laplace
                | PrivacyOp::L1Rows
                | PrivacyOp::Claim(_),
            ) => {}
        }
        origin
    }
}

/// What a value is, in the table.
pub(super) fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Params => "parameters",
        Kind::Tensor => "features",
        Kind::Labels => "labels",
        _ => "number",
    }
}

/// What a value on the wire is derived from. Its text is the column "derived from" of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivation {
    /// Parameters that were trained on the client's examples, and on its kept state if `state`.
    Trained {
        /// Whether kept client state went into it.
        state: bool,
    },
    /// Another value that was computed from the client's examples.
    Computed {
        /// Whether kept client state went into it.
        state: bool,
    },
    /// State that the client keeps.
    ClientState,
    /// The number of the client's examples.
    ExampleCount,
    /// A number that every client sends alike.
    SameEverywhere,
    /// What the client received, unchanged.
    AsReceived,
    /// An aggregate of this round.
    Aggregate,
    /// Global parameters and server state.
    GlobalAndState,
    /// Server state.
    ServerState,
    /// Global parameters.
    Global,
    /// Something else that the server computed.
    Server,
    /// Values that the server has of other clients, which visit this one.
    OtherClients,
    /// What the server computed for this client.
    ServerForClient,
}

impl fmt::Display for Derivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Trained { state: false } => "trained on local data",
            Self::Trained { state: true } => "trained on local data and kept client state",
            Self::Computed { state: false } => "computed from local data",
            Self::Computed { state: true } => "computed from local data and kept client state",
            Self::ClientState => "kept client state",
            Self::ExampleCount => "count of examples",
            Self::SameEverywhere => "the same on every client",
            Self::AsReceived => "as received",
            Self::Aggregate => "aggregate of this round",
            Self::GlobalAndState => "global parameters and server state",
            Self::ServerState => "server state",
            Self::Global => "global parameters",
            Self::Server => "computed on the server",
            Self::OtherClients => "the server's values of other clients",
            Self::ServerForClient => "the server's work for it",
        })
    }
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
            Kind::Scalar => Derivation::SameEverywhere,
            _ => Derivation::AsReceived,
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
