//! Finds the parts of a received value that the code of a client reads.

use std::collections::HashSet;

use fedround_ir::fed::{Facts, FedOp, Op, OpKind, Region, TreeOp, Value};

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

    /// Whether a value is given back, if with other parts, and used for nothing else.
    fn gives(&self, value: Value) -> bool {
        let inside = |op: &Op| op.regions.iter().any(|inner| mentions(inner, value));
        let mut uses = self.region.ops.iter();
        let replaced = uses.all(|op| match (&op.kind, op.operands.as_slice()) {
            (OpKind::Tree(TreeOp::ReplaceParts(_)), [first, second]) if *first == value => {
                *second != value && op.results.iter().all(|v| self.gives(*v))
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

    /// Whether nothing but some parts of an op's result is read.
    fn merges(&self, of: &Op, names: &[String]) -> bool {
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
        of.results.iter().all(|v| !reads(self.region, *v, names))
    }
}

/// Whether code reads a value.
pub(super) fn mentions(region: &Region, value: Value) -> bool {
    region.reads().any(|read| read == value)
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
                    OpKind::Tree(TreeOp::ReplaceParts(_))
                        if op.results.iter().all(|v| code.gives(*v)) =>
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
                    OpKind::Fed(FedOp::Personal(_, names)) if code.merges(op, names) => {
                        self.left_out.push(Leaves::all());
                    }
                    OpKind::Fed(FedOp::Personal(_, names)) => {
                        self.left_out.push(Leaves::named(names))
                    }
                    OpKind::Tree(TreeOp::Scale) if code.is_zero(op.operands[0]) => {}
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
