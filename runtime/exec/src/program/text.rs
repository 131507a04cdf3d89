//! The tensor graphs and plans of a program for a given batch size, as data and as text.

use fedround_ir::fed::Kind;
use fedround_ir::tensor::Graph;
use fedround_ir::text::TENSOR_VERSION;
use fedround_passes::PassManager;
use fedround_passes::tensor::Looped;

use super::Program;
use super::compile_segment::Variant;
use super::error::CompileError;
use crate::executor::Plan;

impl Program {
    /// The optimised tensor graph of each compute segment for a batch size.
    ///
    /// # Errors
    ///
    /// A segment cannot be lowered.
    pub fn graphs(&self, batch: usize) -> Result<Vec<Graph>, CompileError> {
        let mut graphs = vec![Graph::default(); self.schedule.segments.len()];
        self.visit_segments(batch, &mut |variant| {
            let mut silent = PassManager::new();
            let graph = self.segment_graph(variant, &mut silent)?.lowered.graph;
            let rows = self.rows(variant, &graph);
            graphs[variant.segment] = graph;
            Ok(rows)
        })?;
        Ok(graphs)
    }

    /// The ops that run once for each client of a group, because they have no rule for a client axis, each with
    /// the name of its segment.
    ///
    /// # Errors
    ///
    /// A segment cannot be lowered.
    pub fn looped(&self) -> Result<Vec<(String, Looped)>, CompileError> {
        let mut all = vec![];
        self.visit_segments(self.batch_size(), &mut |variant| {
            let mut silent = PassManager::new();
            let single = self.segment_graph(variant, &mut silent)?.lowered.graph;
            let pair = Variant {
                clients: 2,
                each: vec![true; variant.each.len()],
                ..variant.clone()
            };
            let looped = self.segment_graph(&pair, &mut silent)?.looped;
            let name = self.segment_name(variant.segment);
            all.extend(looped.into_iter().map(|op| (name.clone(), op)));
            Ok(self.rows(variant, &single))
        })?;
        Ok(all)
    }

    /// The text of the tensor graphs for a batch size, with long constants abbreviated, for snapshots.
    ///
    /// # Errors
    ///
    /// A segment cannot be lowered.
    pub fn tensor_text(&self, batch: usize) -> Result<String, CompileError> {
        let texts = self.graph_texts(batch, Graph::text)?;
        Ok(format!("// fedround tensor v{TENSOR_VERSION}\n{texts}"))
    }

    /// The text of the tensor graphs for a batch size, with all constants, which can be parsed again.
    ///
    /// # Errors
    ///
    /// A segment cannot be lowered.
    pub fn exact_tensor_text(&self, batch: usize) -> Result<String, CompileError> {
        let texts = self.graph_texts(batch, Graph::exact_text)?;
        Ok(format!("// fedround tensor v{TENSOR_VERSION}\n{texts}"))
    }

    /// The text of the plans for a batch size.
    ///
    /// # Errors
    ///
    /// A segment cannot be lowered.
    pub fn plan_text(&self, batch: usize) -> Result<String, CompileError> {
        let texts = self.graph_texts(batch, |graph, name| Plan::new(graph).text(name))?;
        Ok(format!("// fedround plan v1\n{texts}"))
    }

    /// A text of each tensor graph, which `text` makes of the graph and the name of its segment.
    fn graph_texts(
        &self,
        batch: usize,
        text: impl Fn(&Graph, &str) -> String,
    ) -> Result<String, CompileError> {
        let graphs = self.graphs(batch)?.into_iter().enumerate();
        let texts = graphs.map(|(i, graph)| text(&graph, &self.segment_name(i)));
        Ok(texts.collect::<Vec<_>>().join("\n"))
    }

    /// The name of a segment in texts: `step0` if it reads a batch, `compute1` if it does not.
    pub fn segment_name(&self, i: usize) -> String {
        if self.reads_batch(i) {
            format!("step{i}")
        } else {
            format!("compute{i}")
        }
    }

    /// Whether a segment reads a batch, that is, whether it is a training step.
    pub(crate) fn reads_batch(&self, i: usize) -> bool {
        let types = &self.schedule.module;
        let mut ins = self.schedule.segments[i].ins.iter();
        ins.any(|v| types.type_of(*v).kind == Kind::Batch)
    }
}
