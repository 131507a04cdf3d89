//! Several steps in one recording, which is launched at once.

use burn_dispatch::DispatchDevice;
use fedround_ir::tensor::{DType, TensorType};

use super::buffer::Buffer;
use super::graph::Graph;

/// Steps of a loop whose batches are gathered on the device: they read nothing else from the host.
pub(super) struct Block {
    /// How many.
    pub steps: usize,
    /// The rows of all their batches.
    pub rows: Buffer,
    /// The losses of all, one after another; one buffer or, before they are recorded, none.
    pub losses: Vec<Buffer>,
    pub graph: Option<Graph>,
    /// How many of its replays are to be compared with plain runs.
    pub checks: usize,
    /// Whether it is not recorded, or is not to be used.
    pub refused: bool,
}

impl Block {
    /// `None` for a single step.
    pub fn new(steps: usize, rows: usize, checks: usize, device: &DispatchDevice) -> Option<Self> {
        if steps < 2 {
            return None;
        }
        let ty = TensorType::new(DType::I32, [steps * rows]);
        Some(Self {
            steps,
            rows: Buffer::blank(&ty, device)?,
            losses: vec![],
            graph: None,
            checks,
            refused: false,
        })
    }
}
