//! The wire table: the values that are sent between server and clients in a round.

mod derivation;
mod exchanges;
mod origin;
mod row;
mod table;

use std::collections::{HashMap, HashSet};

pub use fedround_ir::fed::Direction;
use fedround_ir::fed::{
    Exposure, Facts, FedOp, Kind, Module, Op, OpKind, Privacy, Topology, Value, solve,
};

use crate::fed::analysis::{Encoded, Leaves, Needless, encoded, unsent};
pub use derivation::Derivation;
pub use row::{Count, Noise, Protection, Sizes, Wire};
pub use table::{wire_cells, wire_table, wire_totals};

use exchanges::Exchanges;
use origin::{Origin, Origins};

/// Lists the values that a linked module sends, in program order. A value of a client that several
/// reductions read is sent once.
pub fn wire(module: &Module) -> Vec<Wire> {
    let privacy = Privacy::of(module);
    let mut rows = Rows {
        module,
        origins: solve(module, &mut Origins::of(module)),
        exchanges: Exchanges::of(module),
        aggregates: HashMap::new(),
        unsent: unsent(module),
        encoded: encoded(module),
        told: HashSet::new(),
        privacy,
        sent: HashSet::new(),
        rows: Vec::new(),
    };
    module.all_ops().for_each(|op| rows.look_ahead(op));
    for value in module.funcs.iter().flat_map(|func| &func.body.yields) {
        rows.tell(Some(value));
    }
    module.all_ops().for_each(|op| rows.op(op));
    rows.rows
}

/// The cohort of each value of clients in a linked module: the result of the op that makes it, as in
/// [`Wire::cohort`].
pub fn cohorts(module: &Module) -> HashMap<Value, Value> {
    Exchanges::of(module).into_cohorts()
}

struct Rows<'m> {
    module: &'m Module,
    origins: Facts<Origin>,
    exchanges: Exchanges<'m>,
    privacy: Privacy,
    /// The aggregates of each client value.
    aggregates: HashMap<Value, Vec<Value>>,
    unsent: HashMap<Value, Needless>,
    encoded: HashMap<Value, Encoded>,
    /// Aggregates that something beyond the round reads without noise.
    told: HashSet<Value>,
    sent: HashSet<Value>,
    rows: Vec<Wire>,
}

impl Rows<'_> {
    fn look_ahead(&mut self, op: &Op) {
        match op.kind.direction() {
            Some(Direction::Up) => {
                for value in self.module.uploaded(op) {
                    let all = self.aggregates.entry(*value).or_default();
                    all.extend(&op.results);
                }
            }
            Some(Direction::Down) => self.tell(op.operands.first()),
            Some(Direction::Across) => {}
            None if matches!(op.kind, OpKind::Fed(FedOp::SetServerState(_))) => {
                self.tell(op.operands.last());
            }
            None => {}
        }
    }

    /// Something beyond the round, or the clients, reads a value.
    fn tell(&mut self, value: Option<&Value>) {
        let open = value.map(|value| self.privacy.open(*value));
        self.told.extend(open.into_iter().flatten());
    }

    fn op(&mut self, op: &Op) {
        match op.kind.direction() {
            Some(Direction::Down) => {
                for value in op.operands.iter().take(1) {
                    self.row(op, Direction::Down, *value);
                }
            }
            Some(Direction::Up) => {
                for value in self.module.uploaded(op) {
                    if self.sent.insert(*value) {
                        self.row(op, Direction::Up, *value);
                    }
                }
            }
            Some(Direction::Across) => {
                // The weights of a matrix, behind the values, are no message.
                for value in op.operands.iter().take(op.results.len()) {
                    self.row(op, Direction::Across, *value);
                }
            }
            None => {}
        }
    }

    fn row(&mut self, op: &Op, direction: Direction, value: Value) {
        let ty = self.module.types.get(value.0 as usize);
        let kind = ty.map_or(Kind::Params, |ty| ty.kind);
        let origin = self.origins.get(&value).cloned().unwrap_or_default();
        let visits = op.visits();
        let (derived, protection) = match direction {
            Direction::Down if op.kind == OpKind::Fed(FedOp::Scatter) => {
                let derived = match visits {
                    true => Derivation::OtherClients,
                    false => Derivation::ServerForClient,
                };
                (derived, Protection::default())
            }
            Direction::Down => (origin.down(kind), Protection::default()),
            Direction::Up | Direction::Across => (origin.up(kind), self.protection(value, &origin)),
        };
        let sent = match direction {
            Direction::Down => op.results.first().copied().unwrap_or(value),
            Direction::Up | Direction::Across => value,
        };
        let peers = match op.kind {
            OpKind::Fed(FedOp::Mix(topology)) => Some(topology),
            _ => None,
        };
        let copies = peers.and_then(Topology::degree).unwrap_or(1) as u64;
        // Others have less than the server, which sent it.
        let needless = self.unsent.get(&sent).filter(|_| peers.is_none());
        let needless = needless.cloned().unwrap_or_default();
        // Put together of parts that it received, unchanged.
        let derived = match direction {
            Direction::Up if needless.parts == Leaves::all() => Derivation::AsReceived,
            _ => derived,
        };
        let encoded = self.encoded.get(&sent);
        let encoded = encoded.filter(|encoded| peers.is_none() || encoded.onto.is_none());
        self.rows.push(Wire {
            value: sent,
            op: op.kind.name(),
            direction,
            kind,
            without: needless.parts,
            encoded: encoded.cloned(),
            initial: needless.all,
            visits,
            peers,
            derived,
            protection,
            cohort: self.exchanges.cohort(op, value),
            times: self.exchanges.times(op) * copies,
            exchange: self.exchanges.after(sent) + 1,
            loc: op.loc,
        });
    }

    fn protection(&self, value: Value, origin: &Origin) -> Protection {
        let exposure = self.privacy.exposure(value);
        let aggregates = self.aggregates.get(&value).map(Vec::as_slice);
        let open = |aggregate: &Value| self.told.contains(aggregate);
        let hidden = aggregates.is_some_and(|all| !all.iter().any(open));
        Protection {
            clipped: matches!(exposure, Exposure::Clipped | Exposure::Noised),
            noise: match exposure {
                Exposure::Noised => Some(Noise::Local),
                Exposure::Clipped if hidden => Some(Noise::Central),
                _ => None,
            },
            released: origin.released.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
