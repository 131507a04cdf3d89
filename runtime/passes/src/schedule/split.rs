//! Splitting the round of a linked module into a [`Schedule`].

use std::collections::{BTreeMap, HashMap, HashSet};

use fedround_ir::fed::{
    Access, ArithOp, ExternalOp, FedOp, Hook, Kind, Module, Op, OpKind, OptOp, PrivacyOp, Region,
    Value,
};

use super::control::{Role, role};
use super::plan::{Block, Compute, Control, Free, Item, Schedule};
use super::settles::settles;

/// Splits the round of a linked module. `None` when it has no round.
pub fn schedule(module: &Module) -> Option<Schedule> {
    let round = module.funcs.iter().find(|f| f.hook == Hook::Round)?;
    let mut this = Split {
        module,
        free: HashMap::new(),
        segments: vec![],
        views: HashMap::new(),
    };
    this.bind_free(&round.body);
    let columns = round.body.all_ops().filter_map(|op| match &op.kind {
        OpKind::External(ExternalOp::Column(name, kind)) => Some((name.clone(), *kind)),
        _ => None,
    });
    let columns: BTreeMap<String, Kind> = columns.collect();
    let round = this.block(&round.body);
    Some(Schedule {
        module: Module {
            funcs: vec![],
            ..module.clone()
        },
        round,
        segments: this.segments,
        free: this.free,
        columns: columns.into_iter().collect(),
    })
}

fn read(op: Op) -> Item {
    Item::Control(Box::new(Control {
        op,
        body: None,
        reductions: vec![],
        settles: None,
    }))
}

/// Takes reads out of an op's regions, which then are pure: into `reads`, and the columns of batches of which
/// such reads draw rows into `columns`.
fn hoist_reads(op: &mut Op, reads: &mut Vec<Item>, columns: &mut Vec<Op>) {
    for region in &mut op.regions {
        let ops = std::mem::take(&mut region.ops);
        let mut own: HashSet<Value> = region.args.iter().copied().collect();
        let computed = ops.iter().filter(|op| !op.kind.is_constant());
        computed.for_each(|op| own.extend(definitions(op)));
        let of_outer_batch = |op: &&Op| {
            let is_column = matches!(op.kind, OpKind::External(ExternalOp::Column(..)));
            is_column && !op.operands.iter().any(|v| own.contains(v))
        };
        let views = ops.iter().filter(of_outer_batch);
        let views: HashSet<Value> = views.flat_map(|op| op.results.clone()).collect();
        own.retain(|v| !views.contains(v));
        // A personal state's first value may be computed here, and rows to draw from.
        let mut is_outer = |op: &Op| {
            let computed_first = op.kind.state().is_some_and(|s| s.access == Access::ReadOr)
                || matches!(
                    op.kind,
                    OpKind::Opt(OptOp::SampleRows | OptOp::SmallestRows)
                );
            let read = computed_first && !op.operands.iter().any(|v| own.contains(v))
                || role(&op.kind) == Role::Read;
            if read {
                op.results.iter().for_each(|v| _ = own.remove(v));
            }
            read
        };
        let (outer, rest): (Vec<Op>, Vec<Op>) = ops.into_iter().partition(&mut is_outer);
        let is_drawn_from = |op: &Op| {
            let drawn_from = |v| outer.iter().any(|read| read.operands.contains(v));
            op.results
                .iter()
                .any(|v| views.contains(v) && drawn_from(v))
        };
        let (taken, mut rest): (Vec<Op>, Vec<Op>) = rest.into_iter().partition(is_drawn_from);
        columns.extend(taken);
        reads.extend(outer.into_iter().map(read));
        rest.iter_mut()
            .for_each(|op| hoist_reads(op, reads, columns));
        region.ops = rest;
    }
}

struct Split<'a> {
    module: &'a Module,
    free: HashMap<Value, Free>,
    segments: Vec<Compute>,
    /// Columns of batches, by their results: each segment takes its own from the batch.
    views: HashMap<Value, Op>,
}

impl Split<'_> {
    fn bind_free(&mut self, region: &Region) {
        for op in region.all_ops() {
            let known = op.kind.known(&self.module.hypers);
            let free = match &op.kind {
                OpKind::Arith(ArithOp::Real) => self.free.get(&op.operands[0]).cloned(),
                OpKind::Fed(FedOp::Hyper(i)) => known.map(|value| Free {
                    hyper: Some(self.module.hyper_label(*i)),
                    value,
                }),
                _ => known.map(|value| Free { hyper: None, value }),
            };
            if let (Some(free), Some(&result)) = (free, op.results.first()) {
                self.free.insert(result, free);
            }
        }
    }

    fn block(&mut self, region: &Region) -> Block {
        let mut items: Vec<Item> = vec![];
        let mut run: Vec<Op> = vec![];
        let ops: Vec<&Op> = region
            .ops
            .iter()
            .filter(|op| !op.results.iter().any(|r| self.free.contains_key(r)))
            // The verifier held the program to it; there is nothing to carry out.
            .filter(|op| !matches!(op.kind, OpKind::Privacy(PrivacyOp::Claim(_))))
            .collect();
        for (i, op) in ops.iter().enumerate() {
            match role(&op.kind) {
                Role::Read => items.push(read((*op).clone())),
                Role::Control => {
                    let rest: Vec<&Op> = ops[i..].to_vec();
                    self.end_run(&mut run, &rest, region, &mut items);
                    let body = op.regions.first().map(|r| self.block(r));
                    let settles = settles(op, &read_later(&rest[1..], region));
                    let mut op = (*op).clone();
                    op.regions.clear();
                    items.push(Item::Control(Box::new(Control {
                        op,
                        body,
                        reductions: vec![],
                        settles,
                    })));
                }
                Role::Compute => {
                    let (mut op, mut reads) = ((*op).clone(), vec![]);
                    hoist_reads(&mut op, &mut reads, &mut run);
                    // Rows to draw from, and first values, may be what the run computes.
                    let computed: HashSet<Value> = run.iter().flat_map(definitions).collect();
                    let waits = |item: &Item| {
                        let reads = item.reads(&self.segments);
                        reads.iter().any(|v| computed.contains(v))
                    };
                    if reads.iter().any(waits) {
                        self.end_run(&mut run, &ops[i..], region, &mut items);
                    }
                    items.extend(reads);
                    run.push(op);
                }
            }
        }
        self.end_run(&mut run, &[], region, &mut items);
        let own = self.defined(&items, region);
        let last = self.last_reads(&items, region, &own);
        let moves = region.yields.iter().enumerate();
        let moves = moves.map(|(i, v)| own.contains(v) && !region.yields[i + 1..].contains(v));
        Block {
            moves: moves.collect(),
            args: region.args.clone(),
            items: items.into_iter().zip(last).collect(),
            yields: region.yields.clone(),
        }
    }

    fn end_run(&mut self, run: &mut Vec<Op>, rest: &[&Op], region: &Region, items: &mut Vec<Item>) {
        if run.is_empty() {
            return;
        }
        let mut ops = std::mem::take(run);
        for op in &ops {
            if matches!(op.kind, OpKind::External(ExternalOp::Column(..))) {
                self.views
                    .extend(op.results.iter().map(|v| (*v, op.clone())));
            }
        }
        let mut defined: HashSet<Value> = ops.iter().flat_map(definitions).collect();
        let mut reads = vec![];
        ops.iter().for_each(|op| uses(op, &mut reads));
        let views = unique(reads.iter().filter(|v| !defined.contains(v)));
        for op in views.iter().filter_map(|v| self.views.get(v)) {
            defined.extend(&op.results);
            uses(op, &mut reads);
            ops.insert(0, op.clone());
        }
        let later = read_later(rest, region);
        let mut held = region.yields.clone();
        rest.iter().for_each(|op| holds(op, &mut held));
        let outside = |v: &Value| !defined.contains(v);
        let ins = reads
            .iter()
            .filter(|v| outside(v) && !self.free.contains_key(v));
        let free = reads.iter().filter(|v| self.free.contains_key(v));
        let results = ops.iter().flat_map(|op| &op.results);
        let ins = unique(ins);
        // What an outer region defines may be read by the next iteration, too.
        let own = region.ops.iter().flat_map(|op| &op.results);
        let own: HashSet<&Value> = own.chain(&region.args).collect();
        let is_params = |v: &Value| self.module.type_of(*v).kind == Kind::Params;
        let advanced = ops.iter().flat_map(Op::differentiated);
        let advanced: Vec<Value> = advanced.filter(is_params).collect();
        let advanced = advanced
            .iter()
            .filter(|v| ins.contains(v) && (later.contains(v) || !own.contains(v)));
        let compute = Compute {
            advanced: unique(advanced),
            ins,
            free: unique(free),
            outs: unique(results.filter(|v| {
                // Other segments take their own view of a batch; the executor cannot.
                let is_view = self.views.contains_key(v) && !held.contains(v);
                later.contains(v) && !is_view
            })),
            ops,
        };
        items.push(Item::Compute(self.segments.len()));
        self.segments.push(compute);
    }

    /// The values that a block defines itself.
    fn defined(&self, items: &[Item], region: &Region) -> HashSet<Value> {
        let mut own: HashSet<Value> = region.args.iter().copied().collect();
        for item in items {
            match item {
                Item::Control(c) => own.extend(&c.op.results),
                Item::Compute(i) => own.extend(&self.segments[*i].outs),
            }
        }
        own
    }

    /// For each item, the values of this block that it is the last to read.
    fn last_reads(&self, items: &[Item], region: &Region, own: &HashSet<Value>) -> Vec<Vec<Value>> {
        let mut later: HashSet<Value> = region.yields.iter().copied().collect();
        let mut last: Vec<Vec<Value>> = items
            .iter()
            .rev()
            .map(|item| {
                let reads = item.reads(&self.segments);
                let mut fresh: Vec<Value> = reads
                    .into_iter()
                    .filter(|v| later.insert(*v) && own.contains(v))
                    .collect();
                fresh.sort_unstable();
                fresh
            })
            .collect();
        last.reverse();
        last
    }
}

fn definitions(op: &Op) -> impl Iterator<Item = Value> {
    let inner = op.regions.iter().flat_map(Region::definitions);
    op.results.iter().copied().chain(inner)
}

/// What an op and those inside it read, in the order of a walk into each region.
fn uses(op: &Op, out: &mut Vec<Value>) {
    out.extend(&op.operands);
    for region in &op.regions {
        region.ops.iter().for_each(|op| uses(op, out));
        out.extend(&region.yields);
    }
}

/// What the rest of a region reads.
fn read_later(rest: &[&Op], region: &Region) -> Vec<Value> {
    let mut later = region.yields.clone();
    rest.iter().for_each(|op| uses(op, &mut later));
    later
}

/// What the executor itself reads to carry out an op and those inside it.
fn holds(op: &Op, out: &mut Vec<Value>) {
    let control = role(&op.kind) != Role::Compute;
    if control {
        out.extend(&op.operands);
    }
    for region in &op.regions {
        region.ops.iter().for_each(|op| holds(op, out));
        if control {
            out.extend(&region.yields);
        }
    }
}

fn unique<'a>(values: impl Iterator<Item = &'a Value>) -> Vec<Value> {
    let mut seen = HashSet::new();
    values.copied().filter(|v| seen.insert(*v)).collect()
}
