//! Finds parts of parameters that need not be sent, because the receiver has them already:
//!
//! - A part that a client returns as it received it, by `tree.replace_parts`, need not be uploaded.
//! - A part that a client replaces by its own (`fed.personal`) need not be sent to it, as long as rounds
//!   leave that part unchanged. Its first value is that of the initial model, which every client can
//!   compute from the seed. A part that it only stores beside the part of a state that is read, or that cancels
//!   in a difference, need not be sent either.
//! - A part that the server has set to zero need not be sent.

use std::collections::{HashMap, HashSet};

use fedround_ir::fed::{
    Direction, Facts, FedOp, Hook, Kind, Module, Op, OpKind, Region, TreeOp, Value, solve,
};

use super::client_reads::{Code, Needless, mentions, parts_of_states};
use super::leaf_facts::{Unchanged, Unchanging};
use super::leaves::Leaves;

/// For each result of a broadcast and each uploaded result of a map, the part that need not be sent.
pub(crate) fn unsent(module: &Module) -> HashMap<Value, Needless> {
    let resumes = module.resumes;
    let mut this = Unsent {
        facts: solve(module, &mut Unchanging { resumes }),
        states: parts_of_states(module),
        read_on: HashSet::new(),
        down: HashMap::new(),
        up: HashMap::new(),
    };
    let rounds = module.funcs.iter().filter(|f| f.hook == Hook::Round);
    let results = rounds.flat_map(|func| &func.body.yields);
    let initial = results.map(|value| this.fact(*value).same);
    let initial = initial.reduce(|all, one| all.and(&one)).unwrap_or_default();
    for func in &module.funcs {
        this.read_on(module, &func.body);
    }
    for func in &module.funcs {
        this.region(&func.body);
    }
    let begins = module.all_ops();
    let begins = begins.filter(|op| op.kind == OpKind::Fed(FedOp::InitialParams(0)));
    let begins: HashSet<Value> = begins.flat_map(|op| op.results.clone()).collect();
    let sends = module.all_ops();
    let sends = sends.filter(|op| op.operands.first().is_some_and(|v| begins.contains(v)));
    let begun: HashSet<Value> = sends.flat_map(|op| op.results.clone()).collect();
    let down = this.down.iter().filter_map(|(value, needless)| {
        let Unchanged { same, zero } = this.fact(*value);
        let known = match begun.contains(value) {
            true => Leaves::all(),
            false => same.and(&initial),
        };
        let mut needless = needless.clone()?.of_initial(&known);
        // The initial model is known; a number that a state begins with is not.
        needless.all &= module.type_of(*value).kind == Kind::Params;
        needless.parts = needless.parts.or(&zero);
        Some((*value, needless))
    });
    let up = this.up.iter().map(|(value, parts)| {
        let (parts, all) = (parts.clone(), false);
        (*value, Needless { parts, all })
    });
    down.chain(up).collect()
}

struct Unsent {
    facts: Facts<Unchanged>,
    states: HashMap<String, Vec<String>>,
    /// Values of clients that are read again by code on the clients, or by the server for each client.
    read_on: HashSet<Value>,
    /// What no reader of a broadcast needs, as far as they were visited; `None` before the first one.
    down: HashMap<Value, Option<Needless>>,
    up: HashMap<Value, Leaves>,
}

impl Unsent {
    fn fact(&self, value: Value) -> Unchanged {
        self.facts.get(&value).cloned().unwrap_or_default()
    }

    fn read_on(&mut self, module: &Module, region: &Region) {
        self.read_on.extend(&region.yields);
        for op in &region.ops {
            match (&op.kind, op.regions.as_slice()) {
                // Weights are made by code that is given what they weigh, and reads none of it.
                (OpKind::Fed(FedOp::Map), [code]) => {
                    let given = op.operands.iter().zip(code.args.iter().skip(1));
                    let read = given.filter(|(_, arg)| mentions(code, **arg));
                    self.read_on.extend(read.map(|(operand, _)| *operand));
                }
                _ if module.uploads(op) => {}
                _ => self.read_on.extend(&op.operands),
            }
            let inner = op.regions.iter();
            inner.for_each(|region| self.read_on(module, region));
        }
    }

    fn region(&mut self, region: &Region) {
        for op in region.all_ops() {
            if op.kind.direction() == Some(Direction::Down) {
                self.down.extend(op.results.iter().map(|v| (*v, None)));
            } else if op.kind == OpKind::Fed(FedOp::Map) {
                self.map(op);
            }
        }
    }

    fn map(&mut self, map: &Op) {
        let Some(region) = map.regions.first() else {
            return;
        };
        for (result, yielded) in map.results.iter().zip(&region.yields) {
            // Given back as it is, it is for the clients' next code.
            let parts = match region.args.contains(yielded) {
                true => Leaves::default(),
                false => self.returned(map, region, *yielded),
            };
            self.up.insert(*result, parts);
        }
        let sent = |v: &Value| {
            let mut own = region.yields.iter().zip(&map.results);
            own.all(|(yielded, result)| yielded != v || !self.read_on.contains(result))
        };
        let code = Code {
            region,
            facts: &self.facts,
            states: &self.states,
            sent: region.yields.iter().copied().filter(sent).collect(),
        };
        let args = region.args.iter().skip(1);
        for (operand, arg) in map.operands.iter().zip(args) {
            let Some(known) = self.down.get(operand).cloned() else {
                continue;
            };
            let unread = code.unread(*arg);
            let both = known.map_or_else(|| unread.clone(), |known| known.and(&unread));
            self.down.insert(*operand, Some(both));
        }
    }

    /// The leaves of a value that are unchanged since a broadcast.
    fn returned(&self, map: &Op, region: &Region, value: Value) -> Leaves {
        let arg = region.args.iter().skip(1).position(|arg| *arg == value);
        let source = arg.and_then(|i| map.operands.get(i));
        if source.is_some_and(|source| self.down.contains_key(source)) {
            // A gradient of it advances its running statistics.
            return match map.differentiated().contains(&value) {
                true => Leaves::all().minus(&["Buffer".to_owned()]),
                false => Leaves::all(),
            };
        }
        let made = region.ops.iter().find(|op| op.results.contains(&value));
        let Some((OpKind::Tree(TreeOp::ReplaceParts(names)), [rest, taken])) =
            made.map(|op| (&op.kind, op.operands.as_slice()))
        else {
            return Leaves::default();
        };
        let [rest, taken] = [rest, taken].map(|v| self.returned(map, region, *v));
        rest.minus(names).or(&taken.and(&Leaves::named(names)))
    }
}
