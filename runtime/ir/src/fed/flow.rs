//! Forward dataflow analysis: facts about a value follow from facts about the values that it is computed
//! from.

use std::collections::HashMap;

use super::{FedOp, Module, Op, OpKind, OptOp, Region, Value};

/// The facts that an [`Analysis`] found. A value that is not in the map has the default fact.
pub type Facts<F> = HashMap<Value, F>;

/// A forward analysis of a linked module; see [`solve`].
pub trait Analysis {
    /// What is known about a value. The default is the least fact, that of a value without operands.
    type Fact: Clone + Default + PartialEq;

    /// The fact of an argument of the round.
    fn argument(&self) -> Self::Fact {
        Self::Fact::default()
    }

    /// The least fact that holds of both: `a`, `b`, or more.
    fn join(&self, a: &Self::Fact, b: &Self::Fact) -> Self::Fact;

    /// The fact of an op's results. Inputs are the facts of its operands, and after them that of
    /// the region's yield for `opt.grad`, and of what was kept for reads of a state.
    fn transfer(&mut self, op: &Op, inputs: &[Self::Fact]) -> Self::Fact;

    /// What an op changes about its first operand for ops that read that operand later. By default,
    /// nothing changes.
    fn advanced(&mut self, _op: &Op, _inputs: &[Self::Fact]) -> Option<Self::Fact> {
        None
    }
}

/// Runs an analysis until no fact changes. Facts flow through regions, from one step of a loop to the
/// next, and from writes of a state to its reads.
///
/// [`Analysis::join`] only makes facts grow. The analysis ends if they cannot grow without bound.
pub fn solve<A: Analysis>(module: &Module, analysis: &mut A) -> Facts<A::Fact> {
    let mut solver = Solver {
        analysis,
        facts: HashMap::new(),
        kept: HashMap::new(),
        advanced: HashMap::new(),
        advances: 0,
        changed: true,
    };
    for func in &module.funcs {
        for arg in &func.body.args {
            let fact = solver.analysis.argument();
            solver.grow(*arg, &fact);
        }
    }
    while std::mem::take(&mut solver.changed) {
        for func in &module.funcs {
            solver.advanced.clear();
            solver.region(&func.body);
            solver.told(&func.body.yields);
        }
    }
    solver.facts
}

struct Solver<'a, A: Analysis> {
    analysis: &'a mut A,
    facts: Facts<A::Fact>,
    /// The facts of states, which keep values for later rounds.
    kept: HashMap<String, A::Fact>,
    /// What ops of the present turn have changed about a value since it was defined.
    advanced: HashMap<Value, A::Fact>,
    /// How often an entry of `advanced` grew.
    advances: usize,
    changed: bool,
}

impl<A: Analysis> Solver<'_, A> {
    /// What is true of a value where it is read.
    fn fact(&self, value: Value) -> A::Fact {
        let fact = self.facts.get(&value).cloned().unwrap_or_default();
        match self.advanced.get(&value) {
            Some(more) => self.analysis.join(&fact, more),
            None => fact,
        }
    }

    fn advance(&mut self, value: Value, fact: &A::Fact) {
        let old = self.advanced.entry(value).or_default();
        let new = self.analysis.join(old, fact);
        self.advances += usize::from(*old != new);
        *old = new;
    }

    /// What is known of these values here holds in the whole turn.
    fn told(&mut self, values: &[Value]) {
        self.flow(values, values);
    }

    fn grow(&mut self, value: Value, fact: &A::Fact) {
        let old = self.facts.entry(value).or_default();
        let new = self.analysis.join(old, fact);
        if *old != new {
            *old = new;
            self.changed = true;
        }
    }

    /// Joins the fact of each value in `from` into that of its partner in `to`.
    fn flow(&mut self, from: &[Value], to: &[Value]) {
        for (from, to) in from.iter().zip(to) {
            let fact = self.fact(*from);
            self.grow(*to, &fact);
        }
    }

    fn region(&mut self, region: &Region) {
        for op in &region.ops {
            self.op(op);
        }
    }

    /// A region that may run again, after what it has made of the values around it.
    fn turns(&mut self, region: &Region) {
        let before = self.advances;
        self.region(region);
        if self.advances > before {
            self.region(region);
        }
    }

    /// For a read of a state, appends the state's fact to the inputs; for a write, joins the written fact into
    /// it.
    fn state(&mut self, op: &Op, inputs: &mut Vec<A::Fact>) {
        let Some(state) = op.kind.state() else {
            return;
        };
        if !state.sets() {
            inputs.push(self.kept.get(state.name).cloned().unwrap_or_default());
            return;
        }
        let fact = inputs.last().cloned().unwrap_or_default();
        let old = self.kept.entry(state.name.to_owned()).or_default();
        let new = self.analysis.join(old, &fact);
        self.changed |= *old != new;
        *old = new;
        self.told(&op.operands);
    }

    fn op(&mut self, op: &Op) {
        let tail = |values: &'_ [Value], from: usize| -> Vec<Value> {
            values.get(from..).unwrap_or_default().to_vec()
        };
        if let (Some((fixed, own)), [region]) = (op.kind.carried_from(), op.regions.as_slice()) {
            let (first, args) = (tail(&op.operands, fixed), tail(&region.args, own));
            if let OpKind::Opt(OptOp::ForRows(_)) = op.kind {
                self.flow(
                    &tail(&op.operands, 2),
                    &region.args[..own.min(region.args.len())],
                );
            }
            self.flow(&first, &args);
            self.turns(region);
            self.flow(&region.yields, &args);
            // The value after a loop of no step is that before it.
            self.flow(&first, &op.results);
            self.flow(&region.yields, &op.results);
            return;
        }
        if let (OpKind::Fed(FedOp::Map), [region]) = (&op.kind, op.regions.as_slice()) {
            self.flow(&op.operands, &tail(&region.args, 1));
            self.turns(region);
            self.flow(&region.yields, &op.results);
            return;
        }
        let mut inputs: Vec<A::Fact> = op.operands.iter().map(|value| self.fact(*value)).collect();
        for region in &op.regions {
            self.flow(&op.operands, &region.args);
            self.region(region);
            inputs.extend(region.yields.iter().map(|value| self.fact(*value)));
        }
        self.state(op, &mut inputs);
        if let (Some(first), Some(fact)) =
            (op.operands.first(), self.analysis.advanced(op, &inputs))
        {
            self.advance(*first, &fact);
        }
        if !op.results.is_empty() {
            let fact = self.analysis.transfer(op, &inputs);
            for result in &op.results {
                self.advanced.remove(result);
                self.grow(*result, &fact);
            }
        }
    }
}
