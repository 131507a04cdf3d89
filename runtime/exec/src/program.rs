//! A compiled algorithm: its graph at every stage, and plans made on demand for each batch shape.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, RwLock};

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use fedround_dsl::{Algorithm, stage};
use fedround_ir::Loc;
use fedround_ir::fed::{HyperValue, Kind, Module, OpKind, Region, Value};
use fedround_ir::tensor::{DType, Graph, TensorType};
use fedround_ir::text::TENSOR_VERSION;
use fedround_passes::PassManager;
use fedround_passes::fed::{lay_out, link_with, wire};
use fedround_passes::tensor::{
    Block, Free, Frontend, Item, Looped, LowerError, Lowered, Schedule, Shapes, Supply,
    batch_clients_with, fuse_with, hoist_with, lower, optimize_with, parts, schedule, stream,
};

use crate::device::{Device, is_cpu};
use crate::error::CompileError;
use crate::ops;
use crate::plan::Plan;
use crate::supply::Supplies;
use crate::trace::Tracer;

/// A segment compiled for one batch size.
pub(crate) struct Segment {
    pub plan: Plan,
    /// The hyper-parameters among the inputs, as tensors of one element.
    pub hypers: Vec<DispatchTensor>,
    /// The constants and random draws among the inputs, after the hyper-parameters.
    pub supplies: Supplies,
    /// How many outputs at the end are training losses.
    pub losses: usize,
    /// The features and labels among the outputs.
    pub rows: Vec<(Value, TensorType)>,
}

/// A form of a compute segment: each is compiled once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Variant {
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
struct Traced {
    lowered: Lowered,
    supplies: Vec<Supply>,
    looped: Vec<Looped>,
}

/// An algorithm compiled for a model.
pub struct Program {
    staged: Module,
    linked: Module,
    /// How many parameters cross, for the values of which not all do.
    crossing: HashMap<Value, usize>,
    warnings: Vec<String>,
    pub(crate) schedule: Schedule,
    pub(crate) tracer: Tracer,
    pub(crate) device: DispatchDevice,
    compiled: RwLock<HashMap<Variant, Arc<Segment>>>,
    forward: RwLock<HashMap<usize, Arc<Segment>>>,
}

/// A warning for each type of layer that the code names and the model does not have. Buffers are
/// left out where a model has some, and are no matter where it has none.
fn missing_layers(module: &Module, tracer: &Tracer) -> Vec<String> {
    fn named(region: &Region, names: &mut BTreeMap<String, Loc>) {
        for op in &region.ops {
            if let OpKind::TreeWithParts(parts) = &op.kind {
                let layers = parts.iter().filter(|name| parts::is_layer(name));
                names.extend(layers.map(|name| (name.clone(), op.loc)));
            }
            op.regions.iter().for_each(|inner| named(inner, names));
        }
    }
    let mut names = BTreeMap::new();
    module.funcs.iter().for_each(|f| named(&f.body, &mut names));
    let has = |name: &String| tracer.layers().iter().any(|layers| layers.contains(name));
    let missing = names
        .into_iter()
        .filter(|(name, _)| name != "Buffer" && !has(name));
    let text = |(name, loc)| format!("{loc}: model {} has no layer `{name}`", tracer.name());
    missing.map(text).collect()
}

impl Program {
    /// Stages, links and schedules an algorithm, and compiles its local step once, so that errors
    /// in it appear here and not in the first round.
    ///
    /// # Errors
    ///
    /// See [`CompileError`]; each names the line of the spec.
    pub fn compile(algorithm: &dyn Algorithm, tracer: Tracer) -> Result<Self, CompileError> {
        Self::compile_for(algorithm, tracer, Device::Cpu)
    }

    /// As [`compile`](Self::compile), for a device.
    ///
    /// # Errors
    ///
    /// As [`compile`](Self::compile), or the device cannot be used.
    pub fn compile_for(
        algorithm: &dyn Algorithm,
        tracer: Tracer,
        device: Device,
    ) -> Result<Self, CompileError> {
        Self::compile_with(algorithm, tracer, device, &mut PassManager::from_env()?)
    }

    /// As [`compile_for`](Self::compile_for), under a pass manager of the caller's, which times
    /// and shows the passes of the module and of its graphs.
    ///
    /// # Errors
    ///
    /// As [`compile_for`](Self::compile_for).
    pub fn compile_with(
        algorithm: &dyn Algorithm,
        tracer: Tracer,
        device: Device,
        passes: &mut PassManager,
    ) -> Result<Self, CompileError> {
        let staged = passes.time("fed", "stage", || stage(algorithm))?;
        Self::compile_staged(staged, tracer, device.open()?, passes)
    }

    /// Compiles another module for the same model and device.
    pub(crate) fn beside(&self, staged: Module) -> Result<Self, CompileError> {
        let (tracer, device) = (self.tracer.copy(), self.device.clone());
        Self::compile_staged(staged, tracer, device, &mut PassManager::from_env()?)
    }

    fn compile_staged(
        staged: Module,
        tracer: Tracer,
        device: DispatchDevice,
        passes: &mut PassManager,
    ) -> Result<Self, CompileError> {
        let linked = link_with(staged.clone(), passes)?;
        let mut laid_out = linked.module.clone();
        lay_out(&mut laid_out, passes)?;
        let mut schedule = schedule(&laid_out).ok_or(CompileError::NoRound)?;
        stream(&mut schedule);
        let mut this = Self {
            crossing: HashMap::new(),
            schedule,
            linked: linked.module,
            warnings: linked.warnings.iter().map(ToString::to_string).collect(),
            staged,
            tracer,
            device,
            compiled: RwLock::default(),
            forward: RwLock::default(),
        };
        this.warnings
            .extend(missing_layers(&this.linked, &this.tracer));
        let rows = wire(&this.linked).into_iter();
        let rows = rows.filter(|row| row.initial || !row.without.is_empty());
        let crossing = rows.map(|row| match row.initial {
            true => (row.value, 0),
            false => (row.value, this.parameters_without(&row.without)),
        });
        this.crossing = crossing.collect();
        this.visit(this.batch_size(), &mut |variant| {
            Ok(this.compiled(variant, passes)?.rows.clone())
        })?;
        Ok(this)
    }

    /// The staged module, before linking.
    pub fn staged(&self) -> &Module {
        &self.staged
    }

    /// The linked and canonical module.
    pub fn linked(&self) -> &Module {
        &self.linked
    }

    /// What the passes warn of, such as an override that never calls its base.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The traced model.
    pub fn tracer(&self) -> &Tracer {
        &self.tracer
    }

    /// Number of the model's parameters, `P`.
    pub fn parameter_count(&self) -> usize {
        self.tracer
            .parameters()
            .iter()
            .map(|(_, ty)| ty.len())
            .sum()
    }

    /// How many parameters of a value cross between server and clients.
    pub(crate) fn crossing(&self, value: Value) -> usize {
        let some = self.crossing.get(&value).copied();
        some.unwrap_or_else(|| self.parameter_count())
    }

    /// Number of the model's parameters outside of some parts.
    pub fn parameters_without(&self, parts: &[String]) -> usize {
        let inside = parts::leaves(&self.tracer, parts).unwrap_or_default();
        let leaves = self.tracer.parameters().iter();
        let inside = inside.into_iter().chain(std::iter::repeat(false));
        let outside = leaves.zip(inside).filter(|(_, inside)| !inside);
        outside.map(|((_, ty), _)| ty.len()).sum()
    }

    /// The batch size of the spec's first batch or loop over batches, 1 if it has none.
    pub fn batch_size(&self) -> usize {
        fn find(this: &Program, block: &Block) -> Option<usize> {
            block.items.iter().find_map(|(item, _)| match item {
                Item::Control(c) if c.op.kind == OpKind::ForBatches => {
                    this.index(*c.op.operands.get(2)?)
                }
                Item::Control(c) if c.op.kind == OpKind::OneBatch => {
                    this.index(*c.op.operands.get(1)?)
                }
                Item::Control(c) => find(this, c.body.as_ref()?),
                Item::Compute(_) => None,
            })
        }
        find(self, &self.schedule.round).unwrap_or(1)
    }

    /// The optimised tensor graph of each compute segment for a batch size.
    ///
    /// # Errors
    ///
    /// A segment cannot be lowered.
    pub fn graphs(&self, batch: usize) -> Result<Vec<Graph>, CompileError> {
        let mut graphs = vec![Graph::default(); self.schedule.segments.len()];
        self.visit(batch, &mut |variant| {
            let mut silent = PassManager::new();
            let graph = self.graph(variant, &mut silent)?.lowered.graph;
            let rows = self.rows(variant, &graph);
            graphs[variant.segment] = graph;
            Ok(rows)
        })?;
        Ok(graphs)
    }

    /// The ops of each segment, by its name, that run once for each client of a group because they
    /// have no rule for a client axis.
    ///
    /// # Errors
    ///
    /// A segment cannot be lowered.
    pub fn looped(&self) -> Result<Vec<(String, Looped)>, CompileError> {
        let mut all = vec![];
        self.visit(self.batch_size(), &mut |variant| {
            let mut silent = PassManager::new();
            let alone = self.graph(variant, &mut silent)?.lowered.graph;
            let pair = Variant {
                clients: 2,
                each: vec![true; variant.each.len()],
                ..variant.clone()
            };
            let looped = self.graph(&pair, &mut silent)?.looped;
            let name = self.segment_name(variant.segment);
            all.extend(looped.into_iter().map(|op| (name.clone(), op)));
            Ok(self.rows(variant, &alone))
        })?;
        Ok(all)
    }

    /// The text of the tensor graphs for a batch size, as snapshots want it.
    ///
    /// # Errors
    ///
    /// A segment cannot be lowered.
    pub fn tensor_text(&self, batch: usize) -> Result<String, CompileError> {
        self.graphs_text(batch, Graph::text)
    }

    /// The text of the tensor graphs for a batch size with every literal, which reads back.
    ///
    /// # Errors
    ///
    /// A segment cannot be lowered.
    pub fn exact_tensor_text(&self, batch: usize) -> Result<String, CompileError> {
        self.graphs_text(batch, Graph::exact_text)
    }

    fn graphs_text(
        &self,
        batch: usize,
        text: fn(&Graph, &str) -> String,
    ) -> Result<String, CompileError> {
        let graphs = self.graphs(batch)?;
        let texts = graphs
            .iter()
            .enumerate()
            .map(|(i, g)| text(g, &self.segment_name(i)));
        Ok(format!(
            "// fedround tensor v{TENSOR_VERSION}\n{}",
            texts.collect::<Vec<_>>().join("\n")
        ))
    }

    /// The text of the plans for a batch size.
    ///
    /// # Errors
    ///
    /// A segment cannot be lowered.
    pub fn plan_text(&self, batch: usize) -> Result<String, CompileError> {
        let graphs = self.graphs(batch)?;
        let texts = graphs
            .iter()
            .enumerate()
            .map(|(i, g)| Plan::new(g).text(&self.segment_name(i)));
        Ok(format!(
            "// fedround plan v1\n{}",
            texts.collect::<Vec<_>>().join("\n")
        ))
    }

    /// The compute segments and the control between them.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Name of a segment in text: `step0` if it reads a batch, `compute1` otherwise.
    pub fn segment_name(&self, i: usize) -> String {
        if self.reads_batch(i) {
            format!("step{i}")
        } else {
            format!("compute{i}")
        }
    }

    fn reads_batch(&self, i: usize) -> bool {
        let types = &self.schedule.module;
        let mut ins = self.schedule.segments[i].ins.iter();
        ins.any(|v| types.type_of(*v).kind == Kind::Batch)
    }

    /// The features and labels among a segment's results.
    fn rows(&self, variant: &Variant, graph: &Graph) -> Vec<(Value, TensorType)> {
        let mut outputs = graph.outputs.iter();
        let outs = self.schedule.segments[variant.segment].outs.iter();
        let rows = outs.filter_map(|v| {
            let kind = self.schedule.module.type_of(*v).kind;
            if kind == Kind::Params {
                let leaves = self.tracer.parameters().len();
                outputs.by_ref().take(leaves).for_each(drop);
                return None;
            }
            let (_, value) = outputs.next()?;
            let row = (*v, graph.type_of(*value).clone());
            matches!(kind, Kind::Tensor | Kind::Labels).then_some(row)
        });
        rows.collect()
    }

    pub(crate) fn segment(&self, variant: &Variant) -> Result<Arc<Segment>, CompileError> {
        self.compiled(variant, &mut PassManager::from_env()?)
    }

    fn compiled(
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
            supplies: Supplies::new(supplies, &self.device),
            plan: passes.time("plan", "slots", || Plan::new(&lowered.graph)),
            hypers: lowered
                .hypers
                .iter()
                .map(|v| {
                    ops::tensor(
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

    /// The forward pass alone, in inference: parameters and inputs to logits.
    pub(crate) fn forward(&self, batch: usize) -> Result<Arc<Segment>, CompileError> {
        let read = self.forward.read().unwrap_or_else(|e| e.into_inner());
        if let Some(segment) = read.get(&batch) {
            return Ok(Arc::clone(segment));
        }
        drop(read);
        let x = self.tracer.input(batch);
        let traced = self.tracer.apply("predict", &[x], false);
        let graph = traced.map_err(|source| LowerError::Frontend {
            loc: Loc::caller(),
            source,
        })?;
        let mut passes = PassManager::from_env()?;
        let mut graph = optimize_with(graph, "forward", &mut passes)?;
        let supplies = hoist_with(&mut graph, "forward", &mut passes)?;
        let segment = Arc::new(Segment {
            plan: Plan::new(&graph),
            hypers: vec![],
            supplies: Supplies::new(supplies, &self.device),
            losses: 0,
            rows: vec![],
        });
        let mut write = self.forward.write().unwrap_or_else(|e| e.into_inner());
        Ok(Arc::clone(write.entry(batch).or_insert(segment)))
    }

    fn graph(&self, variant: &Variant, passes: &mut PassManager) -> Result<Traced, CompileError> {
        let segment = &self.schedule.segments[variant.segment];
        let name = self.segment_name(variant.segment);
        let mut lowered = passes.time("tensor", "lower", || {
            lower(&self.schedule, segment, &self.tracer, &self.shapes(variant))
        })?;
        let mut graph = optimize_with(lowered.graph, &name, passes)?;
        let mut looped = vec![];
        if variant.clients > 1 {
            let each = self.inputs_of_each(variant, graph.inputs.len());
            looped = batch_clients_with(&mut graph, variant.clients, &each, &name, passes)?;
        }
        let supplies = hoist_with(&mut graph, &name, passes)?;
        // A GPU's backend fuses by itself.
        if is_cpu(&self.device) {
            fuse_with(&mut graph, &name, passes)?;
        }
        lowered.graph = graph;
        Ok(Traced {
            lowered,
            supplies,
            looped,
        })
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
        }
    }

    /// Which of a graph's inputs have a client axis: all tensors of the values that do.
    fn inputs_of_each(&self, variant: &Variant, inputs: usize) -> Vec<bool> {
        let ins = &self.schedule.segments[variant.segment].ins;
        let tensors = |v: &Value| match self.schedule.module.type_of(*v).kind {
            Kind::Params => self.tracer.parameters().len(),
            Kind::Batch => self.schedule.columns.len(),
            _ => 1,
        };
        let flags = ins
            .iter()
            .zip(&variant.each)
            .flat_map(|(v, &each)| std::iter::repeat_n(each, tensors(v)));
        let mut flags: Vec<bool> = flags.collect();
        // What follows, such as hyper-parameters, all clients share.
        flags.resize(inputs, false);
        flags
    }

    /// A value known before the round, as a real number.
    pub(crate) fn real(&self, v: Value) -> Option<f64> {
        match self.schedule.free.get(&v)? {
            Free::Hyper(_, HyperValue::Float(x)) | Free::Const(x) => Some(*x),
            Free::Hyper(_, HyperValue::Int(n)) | Free::Index(n) => Some(*n as f64),
            Free::Hyper(..) => None,
        }
    }

    /// A value known before the round, as a count.
    pub(crate) fn index(&self, v: Value) -> Option<usize> {
        match self.schedule.free.get(&v)? {
            Free::Hyper(_, HyperValue::Int(n)) | Free::Index(n) => Some(*n),
            _ => None,
        }
    }
}
