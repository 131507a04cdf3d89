//! The values that the server holds for all clients of a cohort at once. A sum or mean needs no such
//! memory, because values are added up as they arrive.

use std::collections::{HashMap, HashSet};

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, Module, OpKind, Region, Value};

use super::wire::{Wire, wire};

/// A value of each client that the server holds for the whole cohort.
#[derive(Clone, Debug)]
pub struct GatheredValue {
    /// Its row of the wire table, sent once: each turn of a loop of the server holds its own.
    pub row: Wire,
    /// Whether clients take turns, so that the server holds that of one client.
    pub in_turn: bool,
    /// The place in the algorithm that gathers it.
    pub loc: Loc,
}

/// Lists the values that a linked module gathers, in program order. Those of a visit are not among them:
/// they are averaged client by client.
pub fn gathered_values(module: &Module) -> Vec<GatheredValue> {
    let rows = wire(module).into_iter();
    let rows: HashMap<Value, Wire> = rows.map(|row| (row.value, row)).collect();
    let turns = module.all_ops();
    let turns = turns.filter(|op| op.kind == OpKind::Fed(FedOp::InTurn));
    let in_turn: HashSet<Value> = turns
        .flat_map(|op| op.regions.iter().flat_map(Region::definitions))
        .collect();
    let gathers = module.all_ops();
    let gathers = gathers.filter(|op| op.kind == OpKind::Fed(FedOp::Gather) && !op.visits());
    let held = gathers.filter_map(|op| {
        let of = op.operands.first()?;
        let row = rows.get(of)?.clone();
        Some(GatheredValue {
            row: Wire { times: 1, ..row },
            in_turn: in_turn.contains(of),
            loc: op.loc,
        })
    });
    held.collect()
}

#[cfg(test)]
mod tests {
    use fedround::prelude::*;

    use super::*;
    use crate::testing::{Closure, linked};

    fn of(aggregate: fn(Clients<Params>) -> Server<Params>) -> Vec<String> {
        let spec = Closure(move |m: &mut fedround::Definer| {
            m.round(move |server, w| {
                aggregate(w.broadcast(&server.all_clients()).map(|_, w| 2.0 * w))
            });
        });
        let held = gathered_values(&linked(&spec)).into_iter();
        held.map(|held| held.row.formula()).collect()
    }

    #[test]
    fn what_needs_all_values_at_once_is_held() {
        assert_eq!(of(|w_k| w_k.mean()), [""; 0]);
        assert_eq!(of(|w_k| w_k.median()), ["4P"]);
        assert_eq!(of(|w_k| w_k.trimmed_mean(0.1) + w_k.mean()), ["4P"]);
    }
}
