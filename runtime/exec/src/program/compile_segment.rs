//! Compiles compute segments when they are first needed, once for each [`Variant`] in which they run.
//!
//! A segment is lowered to a tensor graph, which the tensor passes optimise, batch over clients, and fuse.
//! [`Plan`] then assigns slots to its values.

use std::sync::Arc;

use burn::tensor::DispatchTensor;
use fedround_ir::fed::{Kind, Value};
use fedround_ir::tensor::{Graph, TensorType};
use fedround_passes::lowering::{Frontend, Lowered, lower};
use fedround_passes::tensor::{
    ConvAlgorithm, InputSource, Looped, batch_clients_with, convolutions_with,
    elide_zero_carry_with, fuse_with, one_hot_with, optimize_with, order_for_fusion_with,
    parametrize_constants_with,
};
use fedround_passes::{PassError, PassManager, Request};

use super::Program;
use super::error::CompileError;
use crate::device::{is_cpu, with_gpu_access};
use crate::executor::{Plan, SegmentInputs};
use crate::tensor::from_floats;

/// A compute segment, compiled for one [`Variant`], or a function of the model.
///
/// The inputs of the plan are the values that the caller gives, then the hyper-parameters, then the constants
/// and random numbers.
pub struct Segment {
    /// The plan that computes the segment.
    pub plan: Plan,
    /// The values of the hyper-parameters among the inputs, as tensors of one element.
    pub hypers: Vec<DispatchTensor>,
    /// The constants and random numbers among the inputs, after the hyper-parameters.
    pub supplies: SegmentInputs,
    /// The number of outputs at the end that are training losses.
    pub losses: usize,
    /// The rows (features and labels) among the outputs, with their types.
    pub rows: Vec<(Value, TensorType)>,
}

/// The key of a compiled function of the model: its name, and the types of its inputs.
pub(super) type FunctionKey = (&'static str, Vec<TensorType>);

/// The shapes for which a compute segment is compiled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The number of the segment in the schedule.
    pub segment: usize,
    /// The sizes of the batches that the segment reads, in the order of its inputs.
    pub batches: Vec<usize>,
    /// The shapes, for one client, of the rows that the segment reads, in the order of its inputs.
    pub rows: Vec<Vec<usize>>,
    /// The number of clients for which the segment runs at once.
    pub clients: usize,
    /// For each input, whether each client has its own value. Such an input has a client axis.
    pub each: Vec<bool>,
}

/// The optimised graph of a segment.
pub(super) struct SegmentGraph {
    pub lowered: Lowered,
    /// The constants and random ops that became inputs of the graph.
    pub sources: Vec<InputSource>,
    /// The ops that run once for each client, because they have no rule for a client axis.
    pub looped: Vec<Looped>,
}

impl Program {
    /// A segment for these shapes. It is compiled at the first call.
    ///
    /// # Errors
    ///
    /// The segment cannot be lowered for these shapes.
    pub fn segment(&self, variant: &Variant) -> Result<Arc<Segment>, CompileError> {
        self.segment_with(variant, &mut self.pass_manager())
    }

    /// A new pass manager with the observer with which the program was compiled.
    pub fn pass_manager(&self) -> PassManager {
        PassManager::observed_by(self.observer.clone())
    }

    /// As [`segment`](Self::segment), with a pass manager of the caller.
    pub(super) fn segment_with(
        &self,
        variant: &Variant,
        passes: &mut PassManager,
    ) -> Result<Arc<Segment>, CompileError> {
        let segments = self.segments.read().unwrap_or_else(|e| e.into_inner());
        if let Some(segment) = segments.get(variant) {
            return Ok(Arc::clone(segment));
        }
        drop(segments);
        let segment = Arc::new(self.compile_segment(variant, passes)?);
        // Another thread may have compiled the same variant meanwhile. The first one stays.
        let mut segments = self.segments.write().unwrap_or_else(|e| e.into_inner());
        let entry = segments.entry(variant.clone());
        Ok(Arc::clone(entry.or_insert(segment)))
    }

    /// Compiles a segment for these shapes, and copies its constants to the device.
    fn compile_segment(
        &self,
        variant: &Variant,
        passes: &mut PassManager,
    ) -> Result<Segment, CompileError> {
        let SegmentGraph {
            lowered, sources, ..
        } = self.segment_graph(variant, passes)?;
        let hyper = |v: &Value| {
            let number = self.real(*v).unwrap_or_default() as f32;
            from_floats(vec![number], &[1], &self.target.device)
        };
        let (supplies, hypers) = with_gpu_access(|| {
            let supplies = SegmentInputs::new(sources, &self.target.device);
            (supplies, lowered.hypers.iter().map(hyper).collect())
        });
        Ok(Segment {
            plan: passes.time("plan", "slots", || {
                Plan::new(&lowered.graph).with_exact_convolutions(self.target.exact_convolutions)
            }),
            hypers,
            supplies,
            losses: lowered.losses,
            rows: self.rows(variant, &lowered.graph),
        })
    }

    /// The forward pass of the model in inference mode. It takes the parameters, the inputs, and the other columns
    /// that the model's objective names, and gives the logits.
    ///
    /// # Errors
    ///
    /// The model cannot be traced for the batch size.
    pub fn forward(&self, batch: usize) -> Result<Arc<Segment>, CompileError> {
        let mut inputs = vec![self.model.input(batch)];
        for name in &self.model.objective().inputs {
            let ty = self.model.column(name, Kind::Labels, batch);
            inputs.push(ty.map_err(CompileError::Model)?);
        }
        self.function("forward", inputs)
    }

    /// A function of the model in inference mode. It takes the parameters and `inputs`, and gives the function's
    /// value.
    ///
    /// # Errors
    ///
    /// The model has no such function, or it cannot be traced for these inputs.
    pub fn function(
        &self,
        name: &'static str,
        inputs: Vec<TensorType>,
    ) -> Result<Arc<Segment>, CompileError> {
        let key = (name, inputs);
        let functions = self.functions.read().unwrap_or_else(|e| e.into_inner());
        if let Some(segment) = functions.get(&key) {
            return Ok(Arc::clone(segment));
        }
        drop(functions);
        let graph = self.model.apply(name, &key.1, false);
        let mut passes = self.pass_manager();
        let mut graph = optimize_with(graph.map_err(CompileError::Model)?, "forward", &mut passes)?;
        let sources = parametrize_constants_with(&mut graph, "forward", &mut passes)?;
        let segment = Arc::new(Segment {
            plan: Plan::new(&graph).with_exact_convolutions(self.target.exact_convolutions),
            hypers: vec![],
            supplies: with_gpu_access(|| SegmentInputs::new(sources, &self.target.device)),
            losses: 0,
            rows: vec![],
        });
        let mut functions = self.functions.write().unwrap_or_else(|e| e.into_inner());
        Ok(Arc::clone(functions.entry(key).or_insert(segment)))
    }

    /// Lowers a segment to a tensor graph, and runs the tensor passes over it in their order.
    pub(super) fn segment_graph(
        &self,
        variant: &Variant,
        passes: &mut PassManager,
    ) -> Result<SegmentGraph, CompileError> {
        let segment = &self.schedule.segments[variant.segment];
        let name = self.segment_name(variant.segment);
        let mut lowered = passes.time("tensor", "lower", || {
            lower(&self.schedule, segment, &self.model, &self.shapes(variant))
        })?;
        let mut graph = optimize_with(lowered.graph, &name, passes)?;
        let zero_leaves = self.zero_leaves_at_loop_start(variant.segment);
        if !zero_leaves.is_empty() {
            elide_zero_carry_with(&mut graph, &zero_leaves, &name, passes)?;
        }
        let mut looped = vec![];
        if variant.clients > 1 {
            let has_client_axis = self.inputs_with_client_axis(variant, graph.inputs.len());
            looped =
                batch_clients_with(&mut graph, variant.clients, &has_client_axis, &name, passes)?;
        }
        self.choose_convolutions(&mut graph, &name, passes)?;
        let on_cpu = is_cpu(&self.target.device);
        if !on_cpu {
            one_hot_with(&mut graph, &name, passes)?;
        }
        let sources = parametrize_constants_with(&mut graph, &name, passes)?;
        if let Some(pass) = self.target.precision.pass() {
            passes.run(
                &Request::named(pass).map_err(PassError::from)?,
                &name,
                &mut graph,
            )?;
        }
        // On a GPU, burn-fusion fuses ops that follow each other, so their order matters. On the CPU, our own
        // pass fuses.
        if !on_cpu {
            order_for_fusion_with(&mut graph, &name, passes)?;
        } else if self.fuse {
            fuse_with(&mut graph, &name, passes)?;
        }
        lowered.graph = graph;
        Ok(SegmentGraph {
            lowered,
            sources,
            looped,
        })
    }

    /// Replaces convolutions by the algorithms that the policy chooses.
    fn choose_convolutions(
        &self,
        graph: &mut Graph,
        name: &str,
        passes: &mut PassManager,
    ) -> Result<(), CompileError> {
        let target = &self.target;
        if !target.convolutions.may_replace(&target.device) {
            return Ok(());
        }
        let mut failure = None;
        // Choosing may time algorithms on the GPU. The access is taken before the lock of the table of timings:
        // a thread that waited for it with the lock would keep out threads that have access.
        with_gpu_access(|| {
            convolutions_with(graph, name, passes, |op, shapes| {
                let (device, precision) = (&target.device, target.precision);
                let algorithm = target.convolutions.choose(device, precision, op, shapes);
                algorithm.unwrap_or_else(|error| {
                    failure = Some(error);
                    ConvAlgorithm::Grouped
                })
            })
        })?;
        match failure {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }
}
