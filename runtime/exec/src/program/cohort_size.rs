//! The sizes of batches and cohorts, as far as they are known before a program runs.

use fedround_ir::fed::{FedOp, Op, OpKind, OptOp, Value};
use fedround_passes::schedule::{Block, Item};

use super::Program;

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

    /// The number of clients, out of `clients`, that receive the first broadcast of a round. `None` if the round
    /// sends nothing, or if the size is not known before the round.
    pub fn cohort_size(&self, clients: usize) -> Option<usize> {
        let mut ops = self
            .schedule
            .round
            .items
            .iter()
            .filter_map(|(item, _)| match item {
                Item::Control(control) => Some(&control.op),
                Item::Compute(_) => None,
            });
        let sends = |op: &&Op| matches!(op.kind, OpKind::Fed(FedOp::Broadcast | FedOp::Dispatch));
        let sent = ops.find(sends)?;
        self.cohort(*sent.operands.get(1)?, clients)
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
