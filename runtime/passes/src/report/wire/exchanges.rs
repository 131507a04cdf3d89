//! Finds the partners of each crossing, how often a round has it, and after how many uploads.

use std::collections::HashMap;

use fedround_ir::fed::{
    ConstEval, FedOp, Module, Op, OpKind, OptOp, Place, Region, StateUse, Value,
};

/// How many turns of a loop are followed one by one. From there on, each turn comes after as many more
/// uploads as the one before it.
const TURNS: usize = 64;

/// What the table says of each op that sends.
#[derive(Debug)]
pub(super) struct Exchanges<'m> {
    known: ConstEval<'m>,
    module: &'m Module,
    /// How many uploads of the round a value comes after, one after the other.
    after: HashMap<Value, usize>,
    /// The same of what clients keep, by the names of states.
    kept: HashMap<&'m str, usize>,
    /// The cohort that a value is of.
    cohorts: HashMap<Value, Value>,
    everyone: Option<Value>,
    /// How often a round carries out an op, by its first result.
    times: HashMap<Value, u64>,
}

impl<'m> Exchanges<'m> {
    /// The exchanges of a linked module.
    pub(super) fn of(module: &'m Module) -> Self {
        let mut this = Self {
            known: ConstEval::of(module),
            module,
            after: HashMap::new(),
            kept: HashMap::new(),
            cohorts: HashMap::new(),
            everyone: None,
            times: HashMap::new(),
        };
        module
            .funcs
            .iter()
            .for_each(|func| this.region(&func.body, 1));
        this
    }

    /// How many uploads a value comes after; of a loop's, in its last turn.
    pub(super) fn after(&self, value: Value) -> usize {
        self.after.get(&value).copied().unwrap_or_default()
    }

    /// How often a round carries out an op.
    pub(super) fn times(&self, op: &Op) -> u64 {
        let first = op.results.first().and_then(|v| self.times.get(v));
        first.copied().unwrap_or(1)
    }

    /// The cohort with which an op exchanges a value: the op that made the cohort is known by it.
    pub(super) fn cohort(&self, op: &Op, value: Value) -> Option<Value> {
        let first = op.results.first();
        let sent = first.filter(|_| op.kind == OpKind::Fed(FedOp::Broadcast) || op.visits());
        let of = self.cohorts.get(sent.unwrap_or(&value));
        of.copied()
    }

    /// The cohort of each value of clients.
    pub(super) fn into_cohorts(self) -> HashMap<Value, Value> {
        self.cohorts
    }

    fn region(&mut self, region: &'m Region, times: u64) {
        region.ops.iter().for_each(|op| self.op(op, times));
    }

    fn op(&mut self, op: &'m Op, times: u64) {
        let inner = op.regions.iter().flat_map(Region::reads);
        let read = op.operands.iter().copied().chain(inner);
        let mut after = read.map(|v| self.after(v)).max().unwrap_or_default();
        if op.kind == OpKind::Fed(FedOp::Map) {
            after = self.through_states(op, after);
        }
        if self.module.uploads(op) {
            after += 1;
        }
        self.after.extend(op.results.iter().map(|v| (*v, after)));
        self.times.extend(op.results.first().map(|v| (*v, times)));
        if let Some(cohort) = self.cohort_of_results(op) {
            self.cohorts.extend(op.results.iter().map(|v| (*v, cohort)));
        }
        match (&op.kind, op.regions.as_slice()) {
            (OpKind::Opt(OptOp::Repeat), [body]) => self.repeat(op, body, times),
            (OpKind::Fed(FedOp::InTurn), [body]) => self.in_turn(op, body, times),
            (_, bodies) => bodies.iter().for_each(|body| self.region(body, times)),
        }
    }

    /// How many uploads the states come after that a map reads. Those that it sets come after these, too, and
    /// after what it received.
    fn through_states(&mut self, map: &'m Op, received: usize) -> usize {
        let mut after = received;
        let states = map.with_inner().filter_map(|op| op.kind.state());
        let own = states.filter(|state| state.place == Place::Client);
        let (sets, reads): (Vec<_>, Vec<_>) = own.partition(StateUse::sets);
        for read in reads {
            let kept = self.kept.get(read.name).copied();
            after = after.max(kept.unwrap_or_default());
        }
        for set in sets {
            let kept = self.kept.entry(set.name).or_default();
            *kept = (*kept).max(after);
        }
        after
    }

    fn repeat(&mut self, op: &'m Op, body: &'m Region, times: u64) {
        let [count, first @ ..] = op.operands.as_slice() else {
            return;
        };
        let turns = self.known.count(*count).unwrap_or(1);
        let levels = |this: &Self, values: &[Value]| -> Vec<usize> {
            values.iter().map(|v| this.after(*v)).collect()
        };
        for (arg, first) in body.args.iter().zip(first) {
            if let Some(cohort) = self.cohorts.get(first).copied() {
                self.cohorts.insert(*arg, cohort);
            }
        }
        let (mut last, mut grown) = (levels(self, first), vec![0; first.len()]);
        for _ in 0..turns.min(TURNS) {
            self.after
                .extend(body.args.iter().copied().zip(last.iter().copied()));
            self.region(body, times.saturating_mul(turns as u64));
            let next = levels(self, &body.yields);
            let pairs = next.iter().zip(&last);
            grown = pairs
                .map(|(next, last)| next.saturating_sub(*last))
                .collect();
            last = next;
        }
        let rest = turns.saturating_sub(TURNS);
        if rest > 0 {
            let most = grown.iter().max().copied().unwrap_or_default();
            let inside = body.definitions();
            for (_, after) in self.after.iter_mut().filter(|(v, _)| inside.contains(v)) {
                *after += rest * most;
            }
            for op in body.all_ops() {
                if let OpKind::Fed(FedOp::SetClientState(name)) = &op.kind
                    && let Some(after) = self.kept.get_mut(name.as_str())
                {
                    *after += rest * most;
                }
            }
            last.iter_mut()
                .zip(&grown)
                .for_each(|(last, by)| *last += rest * by);
        }
        self.after.extend(op.results.iter().copied().zip(last));
    }

    /// A client has its turn once, however many there are: times and exchanges are those of one of them.
    fn in_turn(&mut self, op: &'m Op, body: &'m Region, times: u64) {
        let given = op.operands.iter().zip(&body.args);
        for (of, arg) in given {
            let (after, cohort) = (self.after(*of), self.cohorts.get(of).copied());
            self.after.insert(*arg, after);
            self.cohorts.insert(*arg, cohort.unwrap_or(*of));
        }
        self.region(body, times);
        let last = body.yields.iter().map(|v| self.after(*v));
        let last: Vec<usize> = last.collect();
        self.after.extend(op.results.iter().copied().zip(last));
    }

    fn cohort_of_results(&mut self, op: &Op) -> Option<Value> {
        let operand = |i: usize| op.operands.get(i).copied();
        let of = |i: usize| self.cohorts.get(&operand(i)?).copied();
        match op.kind {
            // Each time the same.
            OpKind::Fed(FedOp::AllClients) => {
                let here = op.results.first().copied();
                self.everyone = self.everyone.or(here);
                self.everyone
            }
            OpKind::Fed(FedOp::Broadcast) => of(1).or(operand(1)),
            OpKind::Fed(FedOp::Scatter) if op.visits() => of(1).or(operand(1)),
            OpKind::Fed(FedOp::Gather) if op.visits() => of(1),
            OpKind::Fed(FedOp::Restrict) => operand(1),
            OpKind::Fed(
                FedOp::Map
                | FedOp::Mix(_)
                | FedOp::Gather
                | FedOp::Scatter
                | FedOp::Pairwise(_)
                | FedOp::Split(_),
            ) => of(0),
            _ => None,
        }
    }
}
