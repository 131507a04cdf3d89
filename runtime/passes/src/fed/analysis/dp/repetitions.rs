//! Counts how often a round adds some noise, by the loops around it.

use std::collections::HashSet;

use fedround_ir::fed::{Exposure, FedOp, Op, OpKind, OptOp, Place, Region, Value};

use super::{Finder, Unit};
use crate::loop_count::LoopCount;

impl Finder<'_> {
    /// How often noise is added inside of some ops; `None` if that is not known before the round.
    pub(super) fn repetitions(&self, around: &[&Op], unit: Unit) -> Option<LoopCount> {
        let mut all = LoopCount::ONCE;
        for op in around {
            let count = |i: usize| Some(self.known.count(*op.operands.get(i)?)? as u64);
            match &op.kind {
                // Each row is in exactly one batch.
                OpKind::Opt(OptOp::Collect) if unit == Unit::Row => {}
                OpKind::Opt(kind) => {
                    all.enter(kind, count)?;
                    if let OptOp::ForRows(n) = kind {
                        let rows = op.operands.get(2..2 + n)?;
                        if !rows.iter().any(|rows| self.are_a_clients(*rows)) {
                            return None;
                        }
                        all.batches.push(count(1)?);
                    }
                }
                // What is noised in one client's turn is in what the others train on: no bound is claimed.
                OpKind::Fed(FedOp::InTurn) => return None,
                // Code that visits other clients' values runs once for each of them.
                OpKind::Fed(FedOp::Map) if self.visits(op) => return None,
                // Code of the server for each client may read what is made of all of them, such as their mean.
                OpKind::Fed(FedOp::Map) if !self.is_of_one_client(op) => return None,
                _ => {}
            }
        }
        Some(all)
    }

    /// Whether a map's code runs for values that visit a client.
    pub(super) fn visits(&self, map: &Op) -> bool {
        let mut made = map.operands.iter().filter_map(|v| self.known.made(*v));
        made.any(|op| op.visits())
    }

    /// Whether the code of a map reads of clients only what the one client has or sent.
    fn is_of_one_client(&self, map: &Op) -> bool {
        let place = |v: &Value| self.module.type_of(*v).place;
        if map.operands.iter().all(|v| place(v) == Place::Clients) {
            return true;
        }
        let made = |v: &Value| self.known.made(*v).map(|op| &op.kind);
        let sent = |v| matches!(made(v), Some(OpKind::Fed(FedOp::Gather | FedOp::Members)));
        let inside: HashSet<Value> = map.regions.iter().flat_map(Region::definitions).collect();
        let mut reads = map.regions.iter().flat_map(Region::reads);
        map.operands.iter().all(sent)
            && reads.all(|v| inside.contains(&v) || self.privacy.exposure(v) == Exposure::Public)
    }

    /// Whether rows are some of a client's examples, so that there are no more of them.
    fn are_a_clients(&self, rows: Value) -> bool {
        let own = self.module.type_of(rows).place == Place::Client;
        own && self.share(rows).is_some()
    }
}
