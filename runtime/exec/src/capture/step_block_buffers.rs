//! The buffers and the graph of a step block: several steps of a loop that one graph launches.

use burn_dispatch::DispatchDevice;
use fedround_ir::tensor::{DType, TensorType};

use super::buffer::Buffer;
use super::graph::Graph;

/// A step block. Its steps gather their batches from examples on the device, and the host writes only the row
/// numbers of the batches.
pub(super) struct StepBlock {
    /// The number of steps.
    pub steps: usize,
    /// The row numbers of the batches of all steps, one batch after another.
    pub rows: Buffer,
    /// One buffer with the losses of all steps, in order; empty before the block is captured, and if its
    /// steps have no loss.
    pub losses: Vec<Buffer>,
    /// The captured block; `None` before it is captured, and if it is refused.
    pub graph: Option<Graph>,
    /// The number of replays that are still to be compared with plain runs.
    pub checks_left: usize,
    /// Whether the device did not capture the block, or a replay differed from a plain run.
    pub refused: bool,
}

impl StepBlock {
    /// A block of steps with batches of `rows` rows. `None` for a single step, which needs no block.
    pub fn new(steps: usize, rows: usize, checks: usize, device: &DispatchDevice) -> Option<Self> {
        if steps < 2 {
            return None;
        }
        let ty = TensorType::new(DType::I32, [steps * rows]);
        Some(Self {
            steps,
            rows: Buffer::zeros(&ty, device)?,
            losses: vec![],
            graph: None,
            checks_left: checks,
            refused: false,
        })
    }
}
