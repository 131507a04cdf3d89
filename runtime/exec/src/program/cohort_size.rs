//! The sizes of batches and cohorts, as far as they are known before a program runs.

use std::ops::Range;

use fedround_ir::fed::{FedOp, OpKind, OptOp, Value};
use fedround_passes::schedule::{Block, Control, Item};

use super::Program;

/// The numbers of all clients, however many there are.
const ALL_NUMBERS: Range<usize> = 0..usize::MAX;

/// The number of clients that are sampled from `clients` (`K`) by a fraction `c` (`C`): `max(C·K, 1)`, rounded.
pub fn sample_size(c: f64, clients: usize) -> usize {
    ((c * clients as f64).round() as usize).clamp(1, clients.max(1))
}

impl Program {
    /// The batch size of the first batch or loop over batches in the spec; 1 if it has none.
    pub fn batch_size(&self) -> usize {
        let mut batches = self.batches().into_iter();
        let first = batches.find(|(kind, _)| *kind != OptOp::Collect);
        first.map_or(1, |(_, size)| size)
    }

    /// The sizes of all batches in the spec, in order, without duplicates.
    pub fn batch_sizes(&self) -> Vec<usize> {
        let mut sizes = vec![];
        for (_, size) in self.batches() {
            if !sizes.contains(&size) {
                sizes.push(size);
            }
        }
        sizes
    }

    /// The ops that read batches, in program order, with the batch size of each.
    fn batches(&self) -> Vec<(OptOp, usize)> {
        fn add(this: &Program, block: &Block, all: &mut Vec<(OptOp, usize)>) {
            for (item, _) in &block.items {
                let Item::Control(control) = item else {
                    continue;
                };
                let size = match control.op.kind {
                    OpKind::Opt(OptOp::ForBatches) => control.op.operands.get(2),
                    OpKind::Opt(OptOp::OneBatch | OptOp::Collect) => control.op.operands.get(1),
                    OpKind::Opt(
                        OptOp::ForRows(_)
                        | OptOp::SampleRows
                        | OptOp::SmallestRows
                        | OptOp::Repeat
                        | OptOp::Grad,
                    )
                    | OpKind::Fed(_)
                    | OpKind::Arith(_)
                    | OpKind::External(_)
                    | OpKind::Tree(_)
                    | OpKind::Privacy(_) => None,
                };
                let size = size.and_then(|v| this.index(*v));
                if let (OpKind::Opt(kind), Some(size)) = (&control.op.kind, size) {
                    all.push((kind.clone(), size));
                }
                control.body.iter().for_each(|body| add(this, body, all));
            }
        }
        let mut all = vec![];
        add(self, &self.schedule.round, &mut all);
        all
    }

    /// The number of clients, out of `clients`, that receive the first broadcast of a round; of clients that take
    /// turns, the number of all of them. `None` if the round sends nothing, if the size is not known before the
    /// round, or if a loop of the server draws a cohort in each of its turns.
    pub fn cohort_size(&self, clients: usize) -> Option<usize> {
        let round = &self.schedule.round;
        let cohort = first_cohort(round)?;
        match is_drawn_in_loop(round, cohort, false) {
            true => None,
            false => self.cohort(cohort, clients),
        }
    }

    /// The numbers that the clients of a cohort may have, as ranges: all of a cohort that is not known. `cohort` is a
    /// result of the op that defines it.
    pub fn client_numbers(&self, cohort: Option<Value>) -> Vec<Range<usize>> {
        let mut ops = self.linked.all_ops();
        let op = cohort.and_then(|v| ops.find(|op| op.results.contains(&v)));
        let Some(op) = op else {
            return vec![ALL_NUMBERS];
        };
        let range = || {
            let first = self.index(*op.operands.first()?)?;
            Some(first..first.saturating_add(self.index(*op.operands.get(1)?)?))
        };
        match (&op.kind, range()) {
            (OpKind::Fed(FedOp::Within), Some(range)) => vec![range],
            (OpKind::Fed(FedOp::Outside), Some(range)) => {
                vec![0..range.start, range.end..usize::MAX]
            }
            (OpKind::Fed(FedOp::Sample), _) => self.client_numbers(op.operands.get(1).copied()),
            _ => vec![ALL_NUMBERS],
        }
    }

    /// The size of a cohort out of `clients` clients. `cohort` is a result of the op that defines it. `None` if
    /// the size is not known before the round.
    pub fn cohort(&self, cohort: Value, clients: usize) -> Option<usize> {
        let op = self
            .linked
            .all_ops()
            .find(|op| op.results.contains(&cohort))?;
        // The size of a range of client numbers: the operands are its start and its length.
        let range_size = || {
            let first = self.index(*op.operands.first()?)?.min(clients);
            Some(self.index(*op.operands.get(1)?)?.min(clients - first))
        };
        match op.kind {
            OpKind::Fed(FedOp::AllClients) => Some(clients),
            OpKind::Fed(FedOp::Sample) => {
                let among = op.operands.get(1).map(|v| self.cohort(*v, clients));
                let among = among.unwrap_or(Some(clients))?;
                Some(sample_size(self.real(*op.operands.first()?)?, among))
            }
            OpKind::Fed(FedOp::Rotating | FedOp::Reshuffled) => {
                Some(self.index(*op.operands.first()?)?.min(clients))
            }
            OpKind::Fed(FedOp::Arrivals) => {
                let [flying, buffer] = [0, 1].map(|i| self.index(*op.operands.get(i)?));
                Some(buffer?.min(flying?).min(clients))
            }
            OpKind::Fed(FedOp::Within) => range_size(),
            OpKind::Fed(FedOp::Outside) => Some(clients - range_size()?),
            // Other cohorts depend on values that the round computes.
            _ => None,
        }
    }
}

/// Whether a cohort is drawn inside a loop of the server, anew in each of its turns.
fn is_drawn_in_loop(block: &Block, cohort: Value, in_loop: bool) -> bool {
    block.items.iter().any(|(item, _)| {
        let Item::Control(control) = item else {
            return false;
        };
        let Control { op, body, .. } = &**control;
        let is_fixed = matches!(
            op.kind,
            OpKind::Fed(FedOp::AllClients | FedOp::Within | FedOp::Outside)
        );
        let in_body = in_loop || op.kind == OpKind::Opt(OptOp::Repeat);
        let body = body.as_ref();
        in_loop && !is_fixed && op.results.contains(&cohort)
            || body.is_some_and(|body| is_drawn_in_loop(body, cohort, in_body))
    })
}

/// The cohort of the first broadcast of a block, or of the first clients that take turns.
fn first_cohort(block: &Block) -> Option<Value> {
    block.items.iter().find_map(|(item, _)| {
        let Item::Control(control) = item else {
            return None;
        };
        let cohort = |i: usize| control.op.operands.get(i).copied();
        match control.op.kind {
            OpKind::Fed(FedOp::Broadcast | FedOp::Dispatch) => cohort(1),
            OpKind::Fed(FedOp::InTurn) => cohort(0),
            // A loop of the server.
            OpKind::Opt(OptOp::Repeat) => control.body.as_ref().and_then(first_cohort),
            _ => None,
        }
    })
}
