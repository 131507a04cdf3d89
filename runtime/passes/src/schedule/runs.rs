//! Counts how often each compute segment runs in a round.

use fedround_ir::fed::{FedOp, HyperValue, OpKind, OptOp, Place, Value};

use super::plan::{Block, Control, Free, Item, Schedule};

/// How often a segment runs in a round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// Whether the clients run it, and not the server.
    pub on_clients: bool,
    /// Whether the server runs it once for each client of the cohort.
    pub for_each: bool,
    /// Repetitions and epochs of the loops around it, multiplied.
    pub times: u64,
    /// Batch sizes of the batch loops around it, outermost first: each loop runs once for each
    /// batch of the client's examples.
    pub batches: Vec<u64>,
}

impl Runs {
    /// The number of runs in a round, for a client with this many examples.
    pub fn count(&self, examples: u64) -> u64 {
        let batches = self
            .batches
            .iter()
            .map(|&size| examples.div_ceil(size.max(1)));
        batches.fold(self.times, u64::saturating_mul)
    }

    /// As [`count`](Self::count), where a batch that has fewer examples than its size, as a client's last one
    /// does, counts as that share of one. This is what computations scale with.
    pub fn full_batches(&self, examples: u64) -> f64 {
        let Some((size, outer)) = self.batches.split_last() else {
            return self.times as f64;
        };
        let outer = outer.iter().map(|&size| examples.div_ceil(size.max(1)));
        let outer = outer.fold(self.times, u64::saturating_mul);
        outer as f64 * examples as f64 / (*size).max(1) as f64
    }
}

/// [`Runs`] of each segment of a schedule, in order.
pub fn runs(schedule: &Schedule) -> Vec<Runs> {
    let mut all = vec![Runs::default(); schedule.segments.len()];
    let once = Runs {
        times: 1,
        ..Runs::default()
    };
    count(schedule, &schedule.round, &once, &mut all);
    all
}

fn count(schedule: &Schedule, block: &Block, here: &Runs, all: &mut [Runs]) {
    for (item, _) in &block.items {
        match item {
            Item::Compute(i) => {
                if let Some(runs) = all.get_mut(*i) {
                    runs.clone_from(here);
                }
            }
            Item::Control(control) => {
                let Some(body) = &control.body else { continue };
                let mut inside = here.clone();
                let index = |i: usize| {
                    let value = control.op.operands.get(i);
                    value.map_or(1, |v| known(schedule, *v))
                };
                match control.op.kind {
                    OpKind::Fed(FedOp::Map) if gathered(schedule, control) => {
                        inside.for_each = true
                    }
                    OpKind::Fed(FedOp::Map) => {
                        (inside.on_clients, inside.for_each) = (true, false);
                    }
                    OpKind::Fed(FedOp::InTurn) => inside.for_each = true,
                    OpKind::Opt(OptOp::ForBatches) => {
                        inside.times = inside.times.saturating_mul(index(1));
                        inside.batches.push(index(2));
                    }
                    OpKind::Opt(OptOp::ForRows(_) | OptOp::Repeat) => {
                        inside.times = inside.times.saturating_mul(index(0));
                    }
                    OpKind::Opt(OptOp::Collect) => inside.batches.push(index(1)),
                    // They have no code that the executor carries out.
                    OpKind::Opt(
                        OptOp::OneBatch | OptOp::SampleRows | OptOp::SmallestRows | OptOp::Grad,
                    )
                    | OpKind::Fed(_)
                    | OpKind::Arith(_)
                    | OpKind::External(_)
                    | OpKind::Tree(_)
                    | OpKind::Privacy(_) => {}
                }
                count(schedule, body, &inside, all);
            }
        }
    }
}

/// Whether a map runs on the server.
fn gathered(schedule: &Schedule, map: &Control) -> bool {
    let place = |v: &Value| schedule.module.type_of(*v).place;
    map.op.operands.first().map(place) == Some(Place::Gathered)
}

/// A count known before the round; the verifier allows no others for loops.
fn known(schedule: &Schedule, value: Value) -> u64 {
    match schedule.free.get(&value) {
        Some(Free::Hyper(_, HyperValue::Int(n)) | Free::Index(n)) => *n as u64,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(step.batches.len(), 1);
        let size = step.batches[0];
        assert_eq!(step.count(6 * size + 1), 7 * step.times);
        let expected = (6.0 + 1.0 / size as f64) * step.times as f64;
        assert!((step.full_batches(6 * size + 1) - expected).abs() < 1e-9);
    }

    #[test]
    fn code_outside_of_loops_runs_once() {
        let all = runs_of(&Closure(control_variates));
        let (clients, server): (Vec<_>, Vec<_>) = all.iter().partition(|runs| runs.on_clients);
        // The step, and what comes before and after its loop.
        let mut often: Vec<u64> = clients.iter().map(|runs| runs.count(25)).collect();
        often.sort_unstable();
        assert_eq!(often.pop(), Some(3));
        assert!(often.iter().all(|&times| times == 1));
        assert!(server.iter().all(|runs| runs.count(25) == 1));
    }
}
