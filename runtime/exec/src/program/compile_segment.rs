//! Compiles compute segments on demand, once for each [`Variant`] in which they run.

use std::sync::Arc;

use burn::tensor::DispatchTensor;
use fedround_ir::fed::{Kind, Value};
use fedround_ir::tensor::{DType, Graph, TensorType};
use fedround_passes::lowering::{Frontend, Lowered, Shapes, lower};
use fedround_passes::schedule::{LoopCarried, loop_carried};
use fedround_passes::tensor::{
    ConvAlgorithm, InputSource, Leaf, Looped, batch_clients_with, convolutions_with,
    elide_zero_carry_with, fuse_with, one_hot_with, optimize_with, order_for_fusion_with,
    parametrize_constants_with,
};
use fedround_passes::{PassError, PassManager, Request};

use super::Program;
use super::error::CompileError;
use crate::device::is_cpu;
use crate::executor::{Plan, SegmentInputs};
use crate::tensor::from_floats;

/// A segment compiled for one batch size.
pub struct Segment {
    /// What runs.
    pub plan: Plan,
    /// The hyper-parameters among the inputs, as tensors of one element.
    pub hypers: Vec<DispatchTensor>,
    /// The constants and random draws among the inputs, after the hyper-parameters.
    pub supplies: SegmentInputs,
    /// How many outputs at the end are training losses.
    pub losses: usize,
    /// The features and labels among the outputs.
    pub rows: Vec<(Value, TensorType)>,
}

/// A function of the model, and the types of what it is given.
pub(super) type Called = (&'static str, Vec<TensorType>);

/// A form of a compute segment: each is compiled once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// Index of the segment.
    pub segment: usize,
    /// Sizes of the batches that it reads, in the order of its inputs.
    pub batches: Vec<usize>,
    /// Shapes, for one client, of the features and labels that it reads.
    pub rows: Vec<Vec<usize>>,
    /// How many clients it runs for.
    pub clients: usize,
    /// Which of its inputs have a client axis.
    pub each: Vec<bool>,
}

/// A segment's graph, optimised, and what came of it on the way.
pub(super) struct Traced {
    pub lowered: Lowered,
    pub supplies: Vec<InputSource>,
    pub looped: Vec<Looped>,
}

impl Program {
    /// The features and labels among a segment's results.
    pub(super) fn rows(&self, variant: &Variant, graph: &Graph) -> Vec<(Value, TensorType)> {
        let mut outputs = graph.outputs.iter();
        let outs = self.schedule.segments[variant.segment].outs.iter();
        let rows = outs.filter_map(|v| {
            let kind = self.schedule.module.type_of(*v).kind;
            if kind == Kind::Params {
                let leaves = self.model.parameters().len();
                outputs.by_ref().take(leaves).for_each(drop);
                return None;
            }
            let (_, value) = outputs.next()?;
            let row = (*v, graph.type_of(*value).clone());
            matches!(kind, Kind::Tensor | Kind::Labels).then_some(row)
        });
        rows.collect()
    }

    /// The compiled form of a segment; it is compiled when it is first asked for.
    ///
    /// # Errors
    ///
    /// The segment cannot be lowered for these shapes.
    pub fn segment(&self, variant: &Variant) -> Result<Arc<Segment>, CompileError> {
        self.compiled(variant, &mut self.pass_manager())
    }

    /// A new pass manager with the observer that the program was compiled under.
    pub fn pass_manager(&self) -> PassManager {
        PassManager::observed_by(self.observer.clone())
    }

    pub(super) fn compiled(
        &self,
        variant: &Variant,
        passes: &mut PassManager,
    ) -> Result<Arc<Segment>, CompileError> {
        let read = self.compiled.read().unwrap_or_else(|e| e.into_inner());
        if let Some(segment) = read.get(variant) {
            return Ok(Arc::clone(segment));
        }
        drop(read);
        let Traced {
            lowered, supplies, ..
        } = self.graph(variant, passes)?;
        let segment = Arc::new(Segment {
            supplies: SegmentInputs::new(supplies, &self.device),
            plan: passes.time("plan", "slots", || {
                Plan::new(&lowered.graph).with_exact_convolutions(self.exact_convolutions)
            }),
            hypers: lowered
                .hypers
                .iter()
                .map(|v| {
                    from_floats(
                        vec![self.real(*v).unwrap_or_default() as f32],
                        &[1],
                        &self.device,
                    )
                })
                .collect(),
            losses: lowered.losses,
            rows: self.rows(variant, &lowered.graph),
        });
        let mut write = self.compiled.write().unwrap_or_else(|e| e.into_inner());
        Ok(Arc::clone(write.entry(variant.clone()).or_insert(segment)))
    }

    /// The forward pass alone, in inference: parameters, inputs and what else the model's objective
    /// names, to logits.
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

    /// A function of the model alone, in inference: parameters and `inputs` to its value.
    ///
    /// # Errors
    ///
    /// The model has no such function, or it cannot be traced for these inputs.
    pub fn function(
        &self,
        name: &'static str,
        inputs: Vec<TensorType>,
    ) -> Result<Arc<Segment>, CompileError> {
        let called = (name, inputs);
        let read = self.functions.read().unwrap_or_else(|e| e.into_inner());
        if let Some(segment) = read.get(&called) {
            return Ok(Arc::clone(segment));
        }
        drop(read);
        let graph = self.model.apply(name, &called.1, false);
        let mut passes = self.pass_manager();
        let mut graph = optimize_with(graph.map_err(CompileError::Model)?, "forward", &mut passes)?;
        let supplies = parametrize_constants_with(&mut graph, "forward", &mut passes)?;
        let segment = Arc::new(Segment {
            plan: Plan::new(&graph).with_exact_convolutions(self.exact_convolutions),
            hypers: vec![],
            supplies: SegmentInputs::new(supplies, &self.device),
            losses: 0,
            rows: vec![],
        });
        let mut write = self.functions.write().unwrap_or_else(|e| e.into_inner());
        Ok(Arc::clone(write.entry(called).or_insert(segment)))
    }

    pub(super) fn graph(
        &self,
        variant: &Variant,
        passes: &mut PassManager,
    ) -> Result<Traced, CompileError> {
        let segment = &self.schedule.segments[variant.segment];
        let name = self.segment_name(variant.segment);
        let mut lowered = passes.time("tensor", "lower", || {
            lower(&self.schedule, segment, &self.model, &self.shapes(variant))
        })?;
        let mut graph = optimize_with(lowered.graph, &name, passes)?;
        let zero = self.zero_at_first(variant.segment);
        if !zero.is_empty() {
            elide_zero_carry_with(&mut graph, &zero, &name, passes)?;
        }
        let mut looped = vec![];
        if variant.clients > 1 {
            let each = self.inputs_of_each(variant, graph.inputs.len());
            looped = batch_clients_with(&mut graph, variant.clients, &each, &name, passes)?;
        }
        if self.convolutions.change_some(&self.device) {
            let mut failed = None;
            convolutions_with(&mut graph, &name, passes, |op, shapes| {
                let (device, precision) = (&self.device, self.precision);
                let chosen = self.convolutions.choose(device, precision, op, shapes);
                chosen.unwrap_or_else(|error| {
                    failed = Some(error);
                    ConvAlgorithm::Grouped
                })
            })?;
            if let Some(error) = failed {
                return Err(error.into());
            }
        }
        let on_cpu = is_cpu(&self.device);
        if !on_cpu {
            one_hot_with(&mut graph, &name, passes)?;
        }
        let supplies = parametrize_constants_with(&mut graph, &name, passes)?;
        if let Some(pass) = self.precision.pass() {
            passes.run(
                &Request::named(pass).map_err(PassError::from)?,
                &name,
                &mut graph,
            )?;
        }
        // A GPU's backend fuses by itself, what it finds side by side.
        if !on_cpu {
            order_for_fusion_with(&mut graph, &name, passes)?;
        } else if self.fuse {
            fuse_with(&mut graph, &name, passes)?;
        }
        lowered.graph = graph;
        Ok(Traced {
            lowered,
            supplies,
            looped,
        })
    }

    /// How many tensors of a graph's inputs or outputs are a value.
    pub fn tensors(&self, v: Value) -> usize {
        match self.schedule.module.type_of(v).kind {
            Kind::Params => self.model.parameters().len(),
            Kind::Batch => self.schedule.columns.len(),
            _ => 1,
        }
    }

    /// The leaves that are zero when the loop begins whose body is a segment. Buffers are among them only
    /// in trees of zeros, which training cannot have updated.
    fn zero_at_first(&self, segment: usize) -> Vec<Leaf> {
        let compute = &self.schedule.segments[segment];
        let at = |values: &[Value], v: Value| {
            let i = values.iter().position(|other| *other == v)?;
            Some(values[..i].iter().map(|v| self.tensors(*v)).sum::<usize>())
        };
        let buffers = self.model.buffers();
        let mut zero = vec![];
        for LoopCarried { first, read, next } in loop_carried(&self.schedule, segment) {
            let found = (at(&compute.ins, read), at(&compute.outs, next));
            let ((Some(input), Some(output)), Some(leaves)) = (found, self.zeros.get(&first))
            else {
                continue;
            };
            if self.schedule.module.type_of(read).kind != Kind::Params || leaves.is_empty() {
                continue;
            }
            let among = self.among(leaves).into_iter().enumerate();
            let whole = self.zero_trees.contains(&first);
            let among = among.filter(|(j, zero)| *zero && (whole || !buffers.contains(j)));
            zero.extend(among.map(|(j, _)| (input + j, output + j)));
        }
        zero
    }

    fn shapes(&self, variant: &Variant) -> Shapes {
        let ins = self.schedule.segments[variant.segment].ins.iter();
        let kind = |v: &Value| self.schedule.module.type_of(*v).kind;
        let batches = ins.clone().filter(|v| kind(v) == Kind::Batch).copied();
        let typed = ins.filter_map(|v| match kind(v) {
            Kind::Tensor => Some((*v, DType::F32)),
            Kind::Labels => Some((*v, DType::I32)),
            _ => None,
        });
        let rows = typed.zip(&variant.rows);
        Shapes {
            batches: batches.zip(variant.batches.iter().copied()).collect(),
            rows: rows
                .map(|((v, dtype), shape)| (v, TensorType::new(dtype, shape.clone())))
                .collect(),
            loss_scale: self.precision.loss_scale(),
        }
    }

    /// Which of a graph's inputs have a client axis: all tensors of the values that do.
    fn inputs_of_each(&self, variant: &Variant, inputs: usize) -> Vec<bool> {
        let ins = &self.schedule.segments[variant.segment].ins;
        let flags = ins
            .iter()
            .zip(&variant.each)
            .flat_map(|(v, &each)| std::iter::repeat_n(each, self.tensors(*v)));
        let mut flags: Vec<bool> = flags.collect();
        // What follows, such as hyper-parameters, all clients share.
        flags.resize(inputs, false);
        flags
    }
}
