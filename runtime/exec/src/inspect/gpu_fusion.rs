//! Reports which ops of a step burn-fusion puts into one kernel on a GPU.
//!
//! burn-fusion decides that while the ops run, and tries several plans at first. The step is therefore run
//! several times on arbitrary numbers, with a synchronisation of the device between two runs, and the last
//! run is observed.

use std::sync::Arc;

use burn::tensor::DispatchTensor;
use burn_backend::Backend;
use burn_dispatch::{Dispatch, DispatchDevice};
use burn_ir::OperationIr;
use fedround_ir::tensor::{Constant, DType, TensorType};

use super::memory_layout::MemoryLayout;
use crate::device::{ExecError, is_cpu, with_gpu_access};
use crate::executor::{Plan, Slots};
use crate::program::{CompileError, Program, Segment, Variant};
use crate::tensor::{constant, from_floats, from_ints};

/// The number of runs before the observed one, after which burn-fusion no longer changes its plans.
const WARM_UP: usize = 12;

/// The fusion of a program could not be observed.
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

/// A segment as burn-fusion runs it: blocks of ops, in the order in which they ran.
#[derive(Clone, Debug)]
pub struct FusedGraph {
    /// The segment's name.
    pub name: String,
    /// Whether the segment is a training step: it reads a batch.
    pub is_step: bool,
    pub(super) blocks: Vec<Block>,
}

/// Ops that burn-fusion runs together. Several ops are one kernel.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) ops: Vec<OperationIr>,
}

impl FusedGraph {
    /// The number of kernel launches: one for each fused block, and one for each other op that does more than
    /// allocate a tensor or give a view of one. A reshape that has to copy counts as a launch.
    pub fn kernels(&self) -> usize {
        let launches = self.launches().into_iter();
        launches.filter(|launches| *launches).count()
    }

    /// For each block, whether it launches a kernel.
    pub(super) fn launches(&self) -> Vec<bool> {
        let mut layout = MemoryLayout::default();
        let launches = |block: &Block| match &block.ops[..] {
            [op] => layout.run_unfused(op),
            ops => {
                ops.iter().for_each(|op| layout.run_compute(op));
                true
            }
        };
        self.blocks.iter().map(launches).collect()
    }

    /// The number of ops.
    pub fn ops(&self) -> usize {
        self.blocks.iter().map(|block| block.ops.len()).sum()
    }
}

impl Program {
    /// Runs each segment on the program's GPU, and reports how its ops are fused. Each graph is compiled for
    /// `clients` clients.
    ///
    /// # Errors
    ///
    /// See [`FusionError`].
    pub fn fused(&self, batch: usize, clients: usize) -> Result<Vec<FusedGraph>, FusionError> {
        if is_cpu(self.device()) {
            return Err(FusionError::NotFused);
        }
        let mut plans = vec![];
        self.visit_segments(batch, &mut |variant| {
            let single = self.segment(variant)?;
            let group = Variant {
                clients,
                each: vec![clients > 1; variant.each.len()],
                ..variant.clone()
            };
            plans.push((variant.segment, self.segment(&group)?));
            Ok(single.rows.clone())
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

    /// The number of kernels that a training step of `clients` clients in one graph launches: those of every
    /// segment that reads a batch. `None` on the CPU, which launches no kernels.
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

/// Runs a plan until burn-fusion no longer changes its plans, and gives the blocks of the last run.
fn blocks(plan: &Plan, device: &DispatchDevice) -> Result<Vec<Block>, FusionError> {
    let mut slots = Slots::default();
    // Runs the plan once, and calls `start_observing` after the inputs are on the device.
    let mut step = |start_observing: &mut dyn FnMut()| -> Result<(), ExecError> {
        let inputs = plan.inputs.iter();
        let inputs: Vec<_> = inputs.map(|(_, ty, _)| numbers(ty, device)).collect();
        Dispatch::sync(device)?;
        start_observing();
        let outputs = plan.run(device, inputs, &mut slots)?;
        Dispatch::sync(device)?;
        drop(outputs);
        Ok(())
    };
    for _ in 0..WARM_UP {
        with_gpu_access(|| step(&mut || ()))?;
    }
    let mut blocks = observer::record(|start_observing| step(start_observing))?;
    for block in &mut blocks {
        block.ops.retain(|op| !matches!(op, OperationIr::Drop(_)));
    }
    blocks.retain(|block| !block.ops.is_empty());
    Ok(blocks)
}

/// A tensor of this type, filled with an arbitrary number.
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
    use crate::device::with_exclusive_gpu_access;

    /// Collects the blocks that run while it observes.
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

    /// Runs `work`, and gives the blocks that ran after it called the function that it is given. An observer
    /// sees the work of every thread, so no other thread may use a GPU meanwhile.
    pub fn record<E>(
        work: impl FnOnce(&mut dyn FnMut()) -> Result<(), E>,
    ) -> Result<Vec<Block>, E> {
        let blocks = Arc::new(Blocks::default());
        let mut observation = None;
        with_exclusive_gpu_access(|| {
            work(&mut || observation = Some(FusionObservation::new(blocks.clone())))
        })?;
        drop(observation);
        let mut observed = blocks.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(mem::take(&mut *observed))
    }
}

#[cfg(not(any(feature = "wgpu", feature = "cuda")))]
mod observer {
    use super::Block;

    /// Runs `work`, and gives no blocks: a build without GPUs has no device that fuses.
    pub fn record<E>(
        work: impl FnOnce(&mut dyn FnMut()) -> Result<(), E>,
    ) -> Result<Vec<Block>, E> {
        work(&mut || ())?;
        Ok(vec![])
    }
}
