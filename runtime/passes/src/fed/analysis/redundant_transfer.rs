//! Parts of parameters that need not cross, because the other side has them.
//!
//! A client that gives back a part as it received it, by `tree.replace_parts`, need not upload it. A
//! part of which a client uses its own (`fed.personal`), and nothing of what it received, need not
//! be sent to it, as long as rounds leave that part as it was: then its first value is the initial
//! model's, which the seed gives to everyone. Nor is a part that the server set to zero.

use std::collections::{HashMap, HashSet};

use fedround_ir::fed::{Facts, FedOp, Hook, Module, Op, OpKind, Region, TreeOp, Value, solve};

use super::leaf_facts::{Unchanged, Unchanging};
use super::leaves::Leaves;

/// What of a value need not cross.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Needless {
    /// Parts of it.
    pub parts: Leaves,
    /// All of it, but for the first value of a client's state, which is the initial model.
    pub all: bool,
}

/// For each value that a broadcast gives or a map uploads, what of it need not cross.
pub(crate) fn unsent(module: &Module) -> HashMap<Value, Needless> {
    let resumes = module.resumes;
    let mut this = Unsent {
        facts: solve(module, &mut Unchanging { resumes }),
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
    let down = this.down.iter().filter_map(|(value, needless)| {
        let Unchanged { same, zero } = this.fact(*value);
        let mut needless = needless.clone()?.of_initial(&same.and(&initial));
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
    /// The clients' values that their own code reads again, or the server for each of them.
    read_on: HashSet<Value>,
    /// What all readers of a broadcast agree that they do not need; `None` before the first one.
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
        for op in &region.ops {
            match op.kind {
                OpKind::Fed(FedOp::Broadcast | FedOp::Scatter) => {
                    self.down.extend(op.results.iter().map(|v| (*v, None)));
                }
                OpKind::Fed(FedOp::Map) => self.map(op),
                _ => {}
            }
            op.regions.iter().for_each(|inner| self.region(inner));
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

    /// The leaves of a value that are those of a broadcast.
    fn returned(&self, map: &Op, region: &Region, value: Value) -> Leaves {
        let arg = region.args.iter().skip(1).position(|arg| *arg == value);
        let source = arg.and_then(|i| map.operands.get(i));
        if source.is_some_and(|source| self.down.contains_key(source)) {
            return Leaves::all();
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

impl Needless {
    /// What is left of it where these leaves alone are the initial model's: all else a client needs
    /// when it first begins with it.
    fn of_initial(self, leaves: &Leaves) -> Self {
        if *leaves == Leaves::all() {
            return self;
        }
        let parts = match self.all {
            true => leaves.clone(),
            false => self.parts.and(leaves),
        };
        Self { parts, all: false }
    }

    /// What neither of two readers needs.
    fn and(&self, other: &Self) -> Self {
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
struct Code<'a> {
    region: &'a Region,
    facts: &'a Facts<Unchanged>,
    /// What it yields for the server, and for nothing else.
    sent: HashSet<Value>,
}

impl Code<'_> {
    /// What no code needs of a value.
    fn unread(&self, value: Value) -> Needless {
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
fn mentions(region: &Region, value: Value) -> bool {
    let read = |op: &Op| {
        op.operands.contains(&value) || op.regions.iter().any(|inner| mentions(inner, value))
    };
    region.yields.contains(&value) || region.ops.iter().any(read)
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
