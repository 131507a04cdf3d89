//! Sizes that are known before a program runs: of batches and of cohorts.

use fedround_ir::fed::{FedOp, Op, OpKind, OptOp, Value};
use fedround_passes::schedule::{Block, Item};

use super::Program;

/// How many of `clients` a fraction of `c` draws: `max(C·K, 1)`, rounded.
pub fn drawn(c: f64, clients: usize) -> usize {
    ((c * clients as f64).round() as usize).clamp(1, clients.max(1))
}

impl Program {
    /// The batch size of the spec's first batch or loop over batches, 1 if it has none.
    pub fn batch_size(&self) -> usize {
        fn find(this: &Program, block: &Block) -> Option<usize> {
            block.items.iter().find_map(|(item, _)| match item {
                Item::Control(c) if c.op.kind == OpKind::Opt(OptOp::ForBatches) => {
                    this.index(*c.op.operands.get(2)?)
                }
                Item::Control(c) if c.op.kind == OpKind::Opt(OptOp::OneBatch) => {
                    this.index(*c.op.operands.get(1)?)
                }
                Item::Control(c) => find(this, c.body.as_ref()?),
                Item::Compute(_) => None,
            })
        }
        find(self, &self.schedule.round).unwrap_or(1)
    }

    /// How many of `clients` get what the round sends first; `None` where it sends nothing.
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
        let sent = ops.find(|op| op.kind == OpKind::Fed(FedOp::Broadcast))?;
        self.cohort(*sent.operands.get(1)?, clients)
    }

    /// The size of a cohort.
    fn cohort(&self, cohort: Value, clients: usize) -> Option<usize> {
        let mut items = self.schedule.round.items.iter();
        let op: &Op = items.find_map(|(item, _)| match item {
            Item::Control(control) if control.op.results.contains(&cohort) => Some(&control.op),
            _ => None,
        })?;
        let numbered = || {
            let first = self.index(*op.operands.first()?)?.min(clients);
            Some(self.index(*op.operands.get(1)?)?.min(clients - first))
        };
        match op.kind {
            OpKind::Fed(FedOp::Everyone) => Some(clients),
            OpKind::Fed(FedOp::Sample) => {
                let among = op.operands.get(1).map(|v| self.cohort(*v, clients));
                let among = among.unwrap_or(Some(clients))?;
                Some(drawn(self.real(*op.operands.first()?)?, among))
            }
            OpKind::Fed(FedOp::Rotating) => Some(self.index(*op.operands.first()?)?.min(clients)),
            OpKind::Fed(FedOp::Within) => numbered(),
            OpKind::Fed(FedOp::Outside) => Some(clients - numbered()?),
            _ => None,
        }
    }
}
