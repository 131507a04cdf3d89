//! Counts how often each compute segment runs in a round.

use std::collections::HashMap;

use fedround_ir::fed::{FedOp, OpKind, OptOp, Place, Value};

use super::plan::{Block, Control, Item, Schedule};
use crate::loop_count::LoopCount;

/// Who runs a segment, and how often in a round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// Whether the clients run it, and not the server.
    pub on_clients: bool,
    /// Whether the server runs it once for each client of the cohort.
    pub for_each: bool,
    /// How often the loops around it do.
    pub loops: LoopCount,
    /// The size of the single batch of a client's examples that it reads, if it reads one.
    pub batch: Option<u64>,
    /// The batch size of the innermost loop over rows around it. How often that runs depends on the rows:
    /// `loops` has its epochs alone.
    pub rows: Option<u64>,
    /// For client code, a value of the clients that run it. Its cohort is theirs.
    pub clients_of: Option<Value>,
}

impl Runs {
    /// How often a round runs it, for a client with this many examples, where a batch with fewer examples than
    /// its size counts as that share of one. This is what computations scale with.
    pub fn full_batches(&self, examples: u64) -> f64 {
        let share = |size: u64| (examples as f64 / size.max(1) as f64).min(1.0);
        self.batch.map_or(1.0, share) * self.loops.full_batches(examples)
    }
}

/// [`Runs`] of each segment of a schedule, in order.
pub fn runs(schedule: &Schedule) -> Vec<Runs> {
    let mut counter = Counter {
        schedule,
        batches: HashMap::new(),
        all: vec![Runs::default(); schedule.segments.len()],
    };
    let once = Runs {
        loops: LoopCount::ONCE,
        ..Runs::default()
    };
    counter.block(&schedule.round, &once);
    counter.all
}

struct Counter<'s> {
    schedule: &'s Schedule,
    /// The sizes of single batches.
    batches: HashMap<Value, u64>,
    all: Vec<Runs>,
}

impl Counter<'_> {
    fn block(&mut self, block: &Block, here: &Runs) {
        for (item, _) in &block.items {
            match item {
                Item::Compute(i) => {
                    let segment = self.schedule.segments.get(*i).into_iter();
                    let mut reads = segment.flat_map(|segment| &segment.ins);
                    let batch = reads.find_map(|v| self.batches.get(v)).copied();
                    if let Some(runs) = self.all.get_mut(*i) {
                        runs.clone_from(here);
                        runs.batch = batch;
                    }
                }
                Item::Control(control) => self.control(control, here),
            }
        }
    }

    fn control(&mut self, control: &Control, here: &Runs) {
        let (op, schedule) = (&control.op, self.schedule);
        // The verifier allows no loops of counts that are not known.
        let known = |i: usize| {
            let free = schedule.free.get(op.operands.get(i)?);
            Some(free?.value.count()? as u64)
        };
        if let (OpKind::Opt(OptOp::OneBatch), Some(size)) = (&op.kind, known(1)) {
            self.batches.extend(op.results.iter().map(|v| (*v, size)));
        }
        let Some(body) = &control.body else { return };
        let mut inside = here.clone();
        match &op.kind {
            OpKind::Fed(FedOp::Map) if gathered(schedule, control) => inside.for_each = true,
            OpKind::Fed(FedOp::Map) => {
                (inside.on_clients, inside.for_each) = (true, false);
                inside.clients_of = op.operands.first().copied();
            }
            OpKind::Fed(FedOp::InTurn) => inside.for_each = true,
            OpKind::Opt(kind) => {
                if matches!(kind, OptOp::ForRows(_)) {
                    inside.rows = known(1).or(Some(1));
                }
                inside.loops.enter(kind, |i| known(i).or(Some(1)));
            }
            // They have no code that the executor carries out.
            OpKind::Fed(_)
            | OpKind::Arith(_)
            | OpKind::External(_)
            | OpKind::Tree(_)
            | OpKind::Privacy(_) => {}
        }
        self.block(body, &inside);
    }
}

/// Whether a map runs on the server.
fn gathered(schedule: &Schedule, map: &Control) -> bool {
    let place = |v: &Value| schedule.module.type_of(*v).place;
    map.op.operands.first().map(place) == Some(Place::Gathered)
}

#[cfg(test)]
mod tests {
    use fedround::prelude::*;
    use fedround::stage;

    use super::*;
    use crate::fed::link;
    use crate::schedule::schedule;
    use crate::testing::{Closure, FedAvg, control_variates};

    fn runs_of(algorithm: &dyn fedround::Algorithm) -> Vec<Runs> {
        let linked = link(stage(algorithm).unwrap()).unwrap();
        runs(&schedule(&linked.module).unwrap())
    }

    #[test]
    fn a_step_runs_for_each_batch_of_each_epoch() {
        let fed_avg = FedAvg::default();
        let [step] = runs_of(&fed_avg).try_into().unwrap();
        assert!(step.on_clients);
        let loops = step.loops;
        assert_eq!(loops.batches.len(), 1);
        let size = loops.batches[0];
        assert_eq!(loops.count(6 * size + 1), 7 * loops.times);
        let expected = (6.0 + 1.0 / size as f64) * loops.times as f64;
        assert!((loops.full_batches(6 * size + 1) - expected).abs() < 1e-9);
    }

    #[test]
    fn code_outside_of_loops_runs_once() {
        let all = runs_of(&Closure(control_variates));
        let (clients, server): (Vec<_>, Vec<_>) = all.iter().partition(|runs| runs.on_clients);
        // The step, and what comes before and after its loop.
        let mut often: Vec<u64> = clients.iter().map(|runs| runs.loops.count(25)).collect();
        often.sort_unstable();
        assert_eq!(often.pop(), Some(3));
        assert!(often.iter().all(|&times| times == 1));
        assert!(server.iter().all(|runs| runs.loops.count(25) == 1));
    }

    #[test]
    fn a_single_batch_has_no_more_examples_than_the_client() {
        let spec = Closure(|m: &mut fedround::Definer| {
            m.round(|server, w| {
                let sent = w.broadcast(&server.all_clients());
                let w_k = sent.map(|k, w| {
                    let b = k.batch(8);
                    &w - grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y))
                });
                w_k.mean()
            });
        });
        let all = runs_of(&spec);
        let [step] = all
            .iter()
            .filter(|runs| runs.batch.is_some())
            .collect::<Vec<_>>()[..]
        else {
            panic!("one segment reads the batch: {all:?}");
        };
        assert_eq!((step.batch, step.rows), (Some(8), None));
        assert_eq!([2, 8, 80].map(|n| step.full_batches(n)), [0.25, 1.0, 1.0]);
    }
}
