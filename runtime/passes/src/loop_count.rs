//! Counts how often a round carries out code, by the loops around it.

use fedround_ir::fed::OptOp;

/// How often a round carries out some code, on one client or on the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopCount {
    /// Repetitions and epochs of the loops around it, multiplied.
    pub times: u64,
    /// Batch sizes of the loops over a client's examples around it, outermost first: each loop runs once for
    /// each batch.
    pub batches: Vec<u64>,
}

impl LoopCount {
    /// The count of code without a loop around it.
    pub(crate) const ONCE: Self = Self {
        times: 1,
        batches: vec![],
    };

    /// The number in a round, for a client with this many examples.
    pub fn count(&self, examples: u64) -> u64 {
        self.turns(&self.batches, examples)
    }

    /// As [`count`](Self::count), where a batch that has fewer examples than its size, as a client's last one
    /// does, counts as that share of one. This is what computations scale with.
    pub fn full_batches(&self, examples: u64) -> f64 {
        let Some((size, outer)) = self.batches.split_last() else {
            return self.times as f64;
        };
        self.turns(outer, examples) as f64 * examples as f64 / (*size).max(1) as f64
    }

    fn turns(&self, batches: &[u64], examples: u64) -> u64 {
        let batches = batches.iter();
        let batches = batches.map(|&size| examples.div_ceil(size.max(1)));
        batches.fold(self.times, u64::saturating_mul)
    }

    /// Enters the code of an op, whose operands are counts by their positions; `None` if a loop's are not known.
    /// For a loop over rows it counts the epochs alone: how many rows there are depends on the rows.
    pub(crate) fn enter(&mut self, op: &OptOp, count: impl Fn(usize) -> Option<u64>) -> Option<()> {
        match op {
            OptOp::Repeat | OptOp::ForRows(_) => self.times = self.times.saturating_mul(count(0)?),
            OptOp::ForBatches => {
                self.times = self.times.saturating_mul(count(1)?);
                self.batches.push(count(2)?);
            }
            OptOp::Collect => self.batches.push(count(1)?),
            OptOp::OneBatch | OptOp::SampleRows | OptOp::SmallestRows | OptOp::Grad => {}
        }
        Some(())
    }
}
