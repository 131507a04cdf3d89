//! Counts how often each compute segment runs in a round.

use fedround_ir::fed::{FedOp, OpKind, Place, Value};

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
}

/// [`Runs`] of each segment of a schedule, in order.
pub fn runs(schedule: &Schedule) -> Vec<Runs> {
    let mut all = vec![Runs::default(); schedule.segments.len()];
    let once = Runs {
        loops: LoopCount::ONCE,
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
                // The verifier allows no loops of counts that are not known.
                let known = |i: usize| {
                    let free = schedule.free.get(control.op.operands.get(i)?);
                    Some(free?.value.count()? as u64)
                };
                match &control.op.kind {
                    OpKind::Fed(FedOp::Map) if gathered(schedule, control) => {
                        inside.for_each = true
                    }
                    OpKind::Fed(FedOp::Map) => {
                        (inside.on_clients, inside.for_each) = (true, false);
                    }
                    OpKind::Fed(FedOp::InTurn) => inside.for_each = true,
                    OpKind::Opt(op) => _ = inside.loops.enter(op, |i| known(i).or(Some(1))),
                    // They have no code that the executor carries out.
                    OpKind::Fed(_)
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
}
