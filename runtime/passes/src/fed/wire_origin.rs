//! From what a value is derived: a forward analysis for the wire table.

use std::collections::HashMap;

use fedround_ir::fed::{Kind, Module, Op, OpKind, Region, Value};

use super::rewrite::carried_from;
use super::{Direction, Protection, Wire};

/// The rows of a module, in program order.
pub(super) fn rows(module: &Module) -> Vec<Wire> {
    let mut derivation = Derivation {
        module,
        of: HashMap::new(),
        rows: Vec::new(),
        sent: Vec::new(),
    };
    for func in &module.funcs {
        for arg in &func.body.args {
            let origin = Origin {
                global: true,
                ..Origin::default()
            };
            derivation.of.insert(*arg, origin);
        }
        derivation.region(&func.body);
    }
    derivation.rows
}

/// From what a value is derived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Origin {
    global: bool,
    server_state: bool,
    client_state: bool,
    data: bool,
    count: bool,
}

impl Origin {
    fn and(self, other: Self) -> Self {
        Self {
            global: self.global || other.global,
            server_state: self.server_state || other.server_state,
            client_state: self.client_state || other.client_state,
            data: self.data || other.data,
            count: self.count || other.count,
        }
    }

    fn up(self, kind: Kind) -> String {
        let state = if self.client_state {
            " and kept client state"
        } else {
            ""
        };
        match (kind, self) {
            (Kind::Params, Self { data: true, .. }) => {
                format!("parameters, trained on local data{state}")
            }
            (
                Kind::Params,
                Self {
                    client_state: true, ..
                },
            ) => "parameters, kept on the client".to_owned(),
            (Kind::Params, _) => "parameters, as received".to_owned(),
            (_, Self { data: true, .. }) => format!("number, computed from local data{state}"),
            (
                _,
                Self {
                    client_state: true, ..
                },
            ) => "number, computed from kept client state".to_owned(),
            (_, Self { count: true, .. }) => "count of examples".to_owned(),
            _ => "number, the same on every client".to_owned(),
        }
    }

    fn down(self, kind: Kind) -> &'static str {
        match (kind, self) {
            (
                Kind::Params,
                Self {
                    global: true,
                    server_state: true,
                    ..
                },
            ) => "global parameters and server state",
            (
                Kind::Params,
                Self {
                    server_state: true, ..
                },
            ) => "server state",
            (Kind::Params, Self { global: true, .. }) => "global parameters",
            (Kind::Params, _) => "parameters, computed on the server",
            _ => "number, computed on the server",
        }
    }
}

struct Derivation<'m> {
    module: &'m Module,
    of: HashMap<Value, Origin>,
    rows: Vec<Wire>,
    sent: Vec<Value>,
}

impl Derivation<'_> {
    fn from(&self, values: &[Value]) -> Origin {
        let known = values.iter().filter_map(|value| self.of.get(value));
        known.fold(Origin::default(), |all, one| all.and(*one))
    }

    fn join(&mut self, value: Value, from: Origin) {
        let known = self.of.entry(value).or_default();
        *known = known.and(from);
    }

    fn region(&mut self, region: &Region) {
        for op in &region.ops {
            self.op(op);
        }
    }

    fn op(&mut self, op: &Op) {
        let operands = self.from(&op.operands);
        let own = match op.kind {
            OpKind::ServerState(..) => Origin {
                server_state: true,
                ..operands
            },
            OpKind::ClientState(..) => Origin {
                client_state: true,
                ..operands
            },
            OpKind::NumExamples => Origin {
                count: true,
                ..operands
            },
            OpKind::BatchX | OpKind::BatchY => Origin {
                data: true,
                ..operands
            },
            _ => operands,
        };
        if let [region] = op.regions.as_slice() {
            self.nested(op, region);
            return;
        }
        for result in &op.results {
            self.join(*result, own);
        }
        match op.kind {
            OpKind::Broadcast => self.send(
                op,
                Direction::Down,
                op.operands.get(..1),
                op.results.first(),
            ),
            OpKind::Reduce(_) => {
                for value in &op.operands {
                    self.send(op, Direction::Up, Some(&[*value]), Some(value));
                }
            }
            _ => {}
        }
    }

    fn nested(&mut self, op: &Op, region: &Region) {
        let (fixed, own) = match op.kind {
            OpKind::Map => (0, 1),
            _ => carried_from(&op.kind).unwrap_or_default(),
        };
        for (arg, operand) in region
            .args
            .iter()
            .skip(own)
            .zip(op.operands.iter().skip(fixed))
        {
            let from = self.from(&[*operand]);
            self.join(*arg, from);
        }
        // A step of a loop reads what the step before yielded; flags only grow, and there are five.
        for _ in 0..5 {
            self.region(region);
            if carried_from(&op.kind).is_none() {
                break;
            }
            for (arg, yielded) in region.args.iter().skip(own).zip(&region.yields) {
                let from = self.from(&[*yielded]);
                self.join(*arg, from);
            }
        }
        let all = self.from(&region.yields);
        for (index, result) in op.results.iter().enumerate() {
            // A gradient depends on whatever its function does.
            let from = if op.kind == OpKind::Grad {
                all
            } else {
                self.from(region.yields.get(index..=index).unwrap_or_default())
            };
            self.join(*result, from);
        }
        // The parameters after a loop of no step are those before it.
        if carried_from(&op.kind).is_some() {
            for (first, result) in op.operands.iter().skip(fixed).zip(&op.results) {
                let from = self.from(&[*first]);
                self.join(*result, from);
            }
        }
    }

    fn send(&mut self, op: &Op, direction: Direction, what: Option<&[Value]>, key: Option<&Value>) {
        let (Some(&[value]), Some(&key)) = (what, key) else {
            return;
        };
        if self.sent.contains(&key) && direction == Direction::Up {
            return;
        }
        self.sent.push(key);
        let kind = self
            .module
            .types
            .get(value.0 as usize)
            .map_or(Kind::Params, |ty| ty.kind);
        let from = self.from(&[value]);
        let derived = match direction {
            Direction::Down => from.down(kind).to_owned(),
            Direction::Up => from.up(kind),
        };
        let protection = Protection::None;
        self.rows.push(Wire {
            value: key,
            op: op.kind.name(),
            direction,
            kind,
            derived,
            protection,
            loc: op.loc,
        });
    }
}
