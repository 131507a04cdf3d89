//! Reports which operations of a step a GPU's kernel fusion puts into one kernel.
//!
//! burn-fusion decides while ops run, and explores at first. The step is therefore run several
//! times on arbitrary numbers; the device is synchronised between two runs.

use std::sync::Arc;

use burn::tensor::DispatchTensor;
use burn_backend::Backend;
use burn_dispatch::{Dispatch, DispatchDevice};
use burn_ir::OperationIr;
use fedround_ir::tensor::{Constant, DType, TensorType};

use super::memory_layout::MemoryLayout;
use crate::device::{ExecError, is_cpu};
use crate::executor::{Plan, Slots};
use crate::program::{CompileError, Program, Segment, Variant};
use crate::tensor::{constant, from_floats, from_ints};

/// Steps before the one that is looked at, after which fusion keeps to its plans.
const WARM_UP: usize = 12;

/// Fusion could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum FusionError {
    /// The program is for the CPU.
    #[error("the CPU runs the ops of `plan` as they are; ops are fused on GPUs alone")]
    NotFused,
    /// A segment could not be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// A segment could not be run.
    #[error("the step could not be run: {0}")]
    Run(#[from] ExecError),
}

/// What became of the ops of a segment, in the order in which they ran.
#[derive(Clone, Debug)]
pub struct FusedGraph {
    /// The segment's name.
    pub name: String,
    /// Whether the segment is a training step: it reads a batch.
    pub is_step: bool,
    pub(super) blocks: Vec<Block>,
}

/// Ops that run together: in one kernel if there are several.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) ops: Vec<OperationIr>,
}

impl FusedGraph {
    /// How many kernels are launched: one for what is fused, one for each other op that does more
    /// than allocate a tensor or look at one in another shape. A view that copies is one of these.
    pub fn kernels(&self) -> usize {
        self.launched()
            .into_iter()
            .filter(|launched| *launched)
            .count()
    }

    /// Whether each block launches a kernel.
    pub(super) fn launched(&self) -> Vec<bool> {
        let mut layout = MemoryLayout::default();
        let launched = |block: &Block| match &block.ops[..] {
            [op] => layout.launches(op),
            ops => {
                ops.iter().for_each(|op| layout.computes(op));
                true
            }
        };
        self.blocks.iter().map(launched).collect()
    }

    /// How many ops there are.
    pub fn ops(&self) -> usize {
        self.blocks.iter().map(|block| block.ops.len()).sum()
    }
}

impl Program {
    /// What the device's fusion makes of each segment, for so many clients in one graph.
    ///
    /// # Errors
    ///
    /// See [`FusionError`].
    pub fn fused(&self, batch: usize, clients: usize) -> Result<Vec<FusedGraph>, FusionError> {
        if is_cpu(self.device()) {
            return Err(FusionError::NotFused);
        }
        let mut plans = vec![];
        self.visit(batch, &mut |variant| {
            let alone = self.segment(variant)?;
            let group = Variant {
                clients,
                each: vec![clients > 1; variant.each.len()],
                ..variant.clone()
            };
            plans.push((variant.segment, self.segment(&group)?));
            Ok(alone.rows.clone())
        })?;
        let graph = |(i, segment): (usize, Arc<Segment>)| {
            Ok(FusedGraph {
                name: self.segment_name(i),
                is_step: self.reads_batch(i),
                blocks: blocks(&segment.plan, self.device())?,
            })
        };
        plans.into_iter().map(graph).collect()
    }

    /// Kernels that a step launches on the device, for so many clients in one graph: those of every
    /// segment that reads a batch. `None` on the CPU, where there are none.
    ///
    /// # Errors
    ///
    /// See [`FusionError`].
    pub fn step_kernels(&self, clients: usize) -> Result<Option<usize>, FusionError> {
        if is_cpu(self.device()) {
            return Ok(None);
        }
        let graphs = self.fused(self.batch_size(), clients)?.into_iter();
        let steps = graphs.filter(|graph| graph.is_step);
        Ok(Some(steps.map(|graph| graph.kernels()).sum()))
    }
}

/// Runs a plan until fusion has settled, and gives what became of its ops.
fn blocks(plan: &Plan, device: &DispatchDevice) -> Result<Vec<Block>, FusionError> {
    let mut slots = Slots::default();
    let mut step = |seen: &mut dyn FnMut()| -> Result<(), ExecError> {
        let inputs = plan.inputs.iter();
        let inputs: Vec<_> = inputs.map(|(_, ty, _)| numbers(ty, device)).collect();
        Dispatch::sync(device)?;
        seen();
        let outputs = plan.run(device, inputs, &mut slots)?;
        Dispatch::sync(device)?;
        drop(outputs);
        Ok(())
    };
    for _ in 0..WARM_UP {
        step(&mut || ())?;
    }
    let mut all = observer::record(|begin| step(begin))?;
    for block in &mut all {
        block.ops.retain(|op| !matches!(op, OperationIr::Drop(_)));
    }
    all.retain(|block| !block.ops.is_empty());
    Ok(all)
}

/// A tensor of some numbers.
fn numbers(ty: &TensorType, device: &DispatchDevice) -> DispatchTensor {
    match ty.dtype {
        DType::F32 => from_floats(vec![0.01; ty.len()], &ty.shape, device),
        DType::I32 => from_ints(vec![0; ty.len()], &ty.shape, device),
        DType::Bool | DType::BF16 | DType::F16 => {
            let values = vec![1.0; ty.len()].into();
            let ty = ty.clone();
            constant(&Constant { ty, values }, device)
        }
    }
}

#[cfg(any(feature = "wgpu", feature = "cuda"))]
mod observer {
    use std::mem;
    use std::sync::{Arc, Mutex, PoisonError};

    use burn_fusion::observer::{BlockOperations, FusionObservation, FusionObserver};
    use burn_ir::OperationIr;

    use super::Block;
    use crate::device::alone;

    /// The blocks that ran while it watched.
    #[derive(Default)]
    struct Blocks(Mutex<Vec<Block>>);

    impl FusionObserver for Blocks {
        fn registered(&self, _: &OperationIr) {}

        fn block_starts(&self, block: BlockOperations<'_>) {
            let ops = block.iter().cloned().collect();
            let mut blocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            blocks.push(Block { ops });
        }

        fn block_ran(&self) {}
    }

    /// The blocks of what runs after `work` calls what it is given. Observers see the work of every
    /// thread, so others wait.
    pub fn record<E>(
        work: impl FnOnce(&mut dyn FnMut()) -> Result<(), E>,
    ) -> Result<Vec<Block>, E> {
        let blocks = Arc::new(Blocks::default());
        let mut watching = None;
        alone(|| work(&mut || watching = Some(FusionObservation::new(blocks.clone()))))?;
        drop(watching);
        let mut seen = blocks.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(mem::take(&mut *seen))
    }
}

#[cfg(not(any(feature = "wgpu", feature = "cuda")))]
mod observer {
    use super::Block;

    /// No device of such a build fuses.
    pub fn record<E>(
        work: impl FnOnce(&mut dyn FnMut()) -> Result<(), E>,
    ) -> Result<Vec<Block>, E> {
        work(&mut || ())?;
        Ok(vec![])
    }
}
