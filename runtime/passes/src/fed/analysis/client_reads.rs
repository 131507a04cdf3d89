//! Finds the parts of a received value that the code of a client reads.

use std::collections::{HashMap, HashSet};

use fedround_ir::fed::{Access, Facts, FedOp, Module, Op, OpKind, Place, Region, TreeOp, Value};

use super::leaf_facts::Unchanged;
use super::leaves::Leaves;

/// The part of a value that need not be sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Needless {
    /// These leaves.
    pub parts: Leaves,
    /// All of it. It is read only as the first value of a client's state, which is the initial model.
    pub all: bool,
}

impl Needless {
    /// What is left of it where these leaves alone are the initial model's: all else a client needs
    /// when it first begins with it.
    pub fn of_initial(self, leaves: &Leaves) -> Self {
        if *leaves == Leaves::all() {
            return self;
        }
        let parts = match self.all {
            true => leaves.clone(),
            false => self.parts.and(leaves),
        };
        Self { parts, all: false }
    }

    /// The part that neither of two readers needs.
    pub fn and(&self, other: &Self) -> Self {
        let parts = match (self.all, other.all) {
            (true, _) => other.parts.clone(),
            (_, true) => self.parts.clone(),
            _ => self.parts.and(&other.parts),
        };
        let all = self.all && other.all;
        Self { parts, all }
    }
}

/// A client's code.
pub(super) struct Code<'a> {
    pub region: &'a Region,
    pub facts: &'a Facts<Unchanged>,
    /// What [`parts_of_states`] found.
    pub states: &'a HashMap<String, Vec<String>>,
    /// What it yields for the server, and for nothing else.
    pub sent: HashSet<Value>,
}

impl Code<'_> {
    /// The part of a value that no code needs.
    pub fn unread(&self, value: Value) -> Needless {
        let mut reads = Reads::default();
        reads.region(self, self.region, value);
        reads.unread()
    }

    /// Whether a value is zero as written.
    fn is_zero(&self, value: Value) -> bool {
        let fact = self.facts.get(&value);
        fact.is_some_and(|fact| fact.zero == Leaves::all())
    }

    /// The leaves of an op's result that are zero, whatever its operands are; a gradient may move buffers.
    fn zeros(&self, op: &Op) -> Leaves {
        let result = op.results.first();
        let fact = result.and_then(|value| self.facts.get(value));
        let zeros = fact.map_or_else(Leaves::default, |fact| fact.zero.clone());
        zeros.minus(&["Buffer".to_owned()])
    }

    /// Whether a value is given back, if with other parts, and used for nothing else. A difference in which
    /// these parts of it cancel does not use them.
    fn gives(&self, value: Value, parts: &[String]) -> bool {
        let inside = |op: &Op| op.regions.iter().any(|inner| mentions(inner, value));
        let mut uses = self.region.ops.iter();
        let replaced = uses.all(|op| match (&op.kind, op.operands.as_slice()) {
            (OpKind::Tree(TreeOp::ReplaceParts(_)), [first, second]) if *first == value => {
                *second != value && op.results.iter().all(|v| self.gives(*v, &[]))
            }
            (OpKind::Tree(TreeOp::Sub), [first, _]) if *first == value && !parts.is_empty() => {
                let parts = Leaves::named(parts).minus(&["Buffer".to_owned()]);
                self.zeros(op).and(&parts) == parts
            }
            (_, operands) => !operands.contains(&value) && !inside(op),
        });
        let read = |op: &Op| op.operands.contains(&value);
        let yielded = self.region.yields.contains(&value);
        match self.sent.contains(&value) {
            true => replaced,
            false => replaced && !yielded && self.region.ops.iter().any(read),
        }
    }
}

/// The parts that clients read of each of their states, for the states of which they read nothing else.
pub(super) fn parts_of_states(module: &Module) -> HashMap<String, Vec<String>> {
    let (mut parts, mut whole) = (HashMap::new(), HashSet::new());
    for func in &module.funcs {
        for op in func.body.all_ops() {
            let Some(state) = op.kind.state() else {
                continue;
            };
            match &op.kind {
                _ if state.place == Place::Server || state.access == Access::Set => {}
                OpKind::Fed(FedOp::Personal(name, names)) if merges(&func.body, op, names) => {
                    parts.insert(name.clone(), names.clone());
                }
                _ => _ = whole.insert(state.name),
            }
        }
    }
    parts.retain(|name, _| !whole.contains(&**name));
    parts
}

/// Whether nothing but some parts of an op's result is read.
fn merges(region: &Region, of: &Op, names: &[String]) -> bool {
    fn reads(region: &Region, v: Value, names: &[String]) -> bool {
        let other = |op: &Op| {
            let merge =
                matches!(&op.kind, OpKind::Tree(TreeOp::ReplaceParts(parts)) if parts == names);
            let mut at = op.operands.iter().enumerate();
            at.any(|(i, operand)| *operand == v && !(merge && i == 1))
                || op.regions.iter().any(|inner| reads(inner, v, names))
        };
        region.yields.contains(&v) || region.ops.iter().any(other)
    }
    of.results.iter().all(|v| !reads(region, *v, names))
}

/// Whether code reads a value.
pub(super) fn mentions(region: &Region, value: Value) -> bool {
    region.reads().any(|read| read == value)
}

/// The parts that `replace_parts` takes from its operand `i`, if that is the second.
fn taken(i: usize, names: &[String]) -> &[String] {
    match i {
        0 => &[],
        _ => names,
    }
}

/// Which parts of a client's value are read.
#[derive(Default)]
struct Reads {
    /// Whether something reads it as the first value of a state.
    first: bool,
    /// Parts that readers leave out, one entry for each reader.
    left_out: Vec<Leaves>,
    /// Whether something reads all of it.
    whole: bool,
}

impl Reads {
    fn region(&mut self, code: &Code<'_>, region: &Region, arg: Value) {
        self.whole |= region.yields.contains(&arg);
        for op in &region.ops {
            for (i, _) in op.operands.iter().enumerate().filter(|(_, v)| **v == arg) {
                match &op.kind {
                    // What is given back stays on the server.
                    OpKind::Tree(TreeOp::ReplaceParts(names))
                        if op.results.iter().all(|v| code.gives(*v, taken(i, names))) =>
                    {
                        self.left_out.push(Leaves::all());
                    }
                    // Of the first tree all but the named parts, of the second those, and of both
                    // what is needed of the result.
                    OpKind::Tree(TreeOp::ReplaceParts(names)) => {
                        let result = op.results.first().map(|v| code.unread(*v));
                        let own = match i {
                            0 => Leaves::named(names),
                            _ => Leaves::all().minus(names),
                        };
                        self.left_out
                            .push(result.unwrap_or_default().parts.or(&own));
                    }
                    OpKind::Fed(FedOp::Personal(_, names)) if names.is_empty() => self.first = true,
                    // Its other parts go nowhere.
                    OpKind::Fed(FedOp::Personal(_, names)) if merges(code.region, op, names) => {
                        self.left_out.push(Leaves::all());
                    }
                    OpKind::Fed(FedOp::Personal(_, names)) => {
                        self.left_out.push(Leaves::named(names))
                    }
                    OpKind::Tree(TreeOp::Scale) if code.is_zero(op.operands[0]) => {}
                    OpKind::Tree(TreeOp::Sub) => self.left_out.push(code.zeros(op)),
                    // Other parts are stored, and never read.
                    OpKind::Fed(FedOp::SetClientState(name)) => match code.states.get(name) {
                        Some(names) => self.left_out.push(Leaves::all().minus(names)),
                        None => self.whole = true,
                    },
                    _ => self.whole = true,
                }
            }
            let inner = op.regions.iter();
            inner.for_each(|region| self.region(code, region, arg));
        }
    }

    fn unread(self) -> Needless {
        if self.whole {
            return Needless::default();
        }
        let parts = self.left_out.into_iter().reduce(|all, one| all.and(&one));
        match parts {
            Some(parts) if !self.first || parts != Leaves::all() => Needless { parts, all: false },
            // All that is read of it is the first value of a state.
            _ => Needless {
                parts: Leaves::default(),
                all: self.first,
            },
        }
    }
}
