//! From what a value is derived: a forward analysis for the wire table.

use std::collections::BTreeSet;

use fedround_ir::fed::{Analysis, Kind, Module, Op, OpKind};

/// From what a value is derived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Origin {
    global: bool,
    server_state: bool,
    client_state: bool,
    data: bool,
    count: bool,
    /// Why it may leave its client, from each `priv.release`.
    pub(super) released: BTreeSet<String>,
    /// How many uploads of the round it comes after, one after the other.
    pub(super) aggregates: usize,
}

/// More exchanges than this are not told apart: a loop on the server may have any number.
const MANY: usize = 9;

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
            aggregates: a.aggregates.max(b.aggregates),
        }
    }

    fn transfer(&mut self, op: &Op, inputs: &[Origin]) -> Origin {
        let none = Origin::default();
        let mut origin = inputs.iter().fold(none, |all, one| self.join(&all, one));
        // Of the value itself, not of what is computed from it.
        origin.released.clear();
        match &op.kind {
            // A state is an origin of its own, whatever was kept in it.
            OpKind::ServerState(..) => {
                return Origin {
                    server_state: true,
                    ..Origin::default()
                };
            }
            OpKind::ClientState(..) | OpKind::Personal(..) => {
                let first = inputs.get(1).filter(|_| op.operands.len() > 1);
                return Origin {
                    client_state: true,
                    ..first.cloned().unwrap_or_default()
                };
            }
            OpKind::NumExamples => origin.count = true,
            OpKind::Column(..) | OpKind::LocalClasses => origin.data = true,
            OpKind::Release(why) => {
                origin.released.insert(why.clone());
            }
            _ if self.0.uploads(op) => origin.aggregates = MANY.min(origin.aggregates + 1),
            _ => {}
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

impl Origin {
    /// From what an upload is derived.
    pub(super) fn up(&self, kind: Kind) -> String {
        let (and_state, verb) = if kind == Kind::Params {
            (" and kept client state", "trained on")
        } else {
            (" and kept client state", "computed from")
        };
        let state = if self.client_state { and_state } else { "" };
        match (kind, self) {
            (_, Self { data: true, .. }) => format!("{verb} local data{state}"),
            (
                _,
                Self {
                    client_state: true, ..
                },
            ) => "kept client state".to_owned(),
            (Kind::Scalar, Self { count: true, .. }) => "count of examples".to_owned(),
            (Kind::Scalar, _) => "the same on every client".to_owned(),
            _ => "as received".to_owned(),
        }
    }

    /// From what a broadcast is derived.
    pub(super) fn down(&self, kind: Kind) -> &'static str {
        match (kind, self.global, self.server_state) {
            (_, _, _) if self.aggregates > 0 => "aggregate of this round",
            (Kind::Params, true, true) => "global parameters and server state",
            (Kind::Params, false, true) => "server state",
            (Kind::Params, true, false) => "global parameters",
            _ => "computed on the server",
        }
    }
}
