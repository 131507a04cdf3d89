//! Maps the values of a compute segment to the input and output tensors of its graph: a value is a parameter tree of several
//! leaves, a batch of several columns, or a single tensor.

use fedround_ir::fed::{Kind, Value};
use fedround_ir::tensor::{DType, Graph, TensorType};
use fedround_passes::lowering::{Frontend, Shapes};
use fedround_passes::schedule::{LoopCarried, loop_carried};
use fedround_passes::tensor::Leaf;

use super::Program;
use super::compile_segment::Variant;

impl Program {
    /// The rows (features and labels) among a segment's results.
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
            kind.has_rows().then_some(row)
        });
        rows.collect()
    }

    /// The number of tensors that represent a value among a graph's inputs or outputs: the leaves of a parameter
    /// tree, the columns of a batch, or 1.
    pub fn tensor_count(&self, v: Value) -> usize {
        match self.schedule.module.type_of(v).kind {
            Kind::Params => self.model.parameters().len(),
            Kind::Batch => self.schedule.columns.len(),
            _ => 1,
        }
    }

    /// The loop-carried leaves that are zero when the loop begins whose body is this segment. A buffer of the
    /// model counts only if the whole tree is zero, because training may have updated the buffers of others.
    pub(super) fn zero_leaves_at_loop_start(&self, segment: usize) -> Vec<Leaf> {
        let compute = &self.schedule.segments[segment];
        // The number of the first tensor of `v` among the tensors of all `values`.
        let first_tensor = |values: &[Value], v: Value| {
            let i = values.iter().position(|other| *other == v)?;
            let counts = values[..i].iter().map(|v| self.tensor_count(*v));
            Some(counts.sum::<usize>())
        };
        let buffers = self.model.buffers();
        let mut zero = vec![];
        for LoopCarried { first, read, next } in loop_carried(&self.schedule, segment) {
            let (Some(input), Some(output), Some(leaves)) = (
                first_tensor(&compute.ins, read),
                first_tensor(&compute.outs, next),
                self.zeros.get(&first),
            ) else {
                continue;
            };
            if self.schedule.module.type_of(read).kind != Kind::Params || leaves.is_empty() {
                continue;
            }
            let is_zero = self.leaf_mask(leaves).into_iter().enumerate();
            let whole_tree = self.zero_trees.contains(&first);
            let leaves = is_zero.filter(|(j, zero)| *zero && (whole_tree || !buffers.contains(j)));
            zero.extend(leaves.map(|(j, _)| (input + j, output + j)));
        }
        zero
    }

    /// The shapes of a variant, by the values of the segment.
    pub(super) fn shapes(&self, variant: &Variant) -> Shapes {
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
            loss_scale: self.target.precision.loss_scale(),
        }
    }

    /// For each input tensor of the graph, whether it has a client axis.
    pub(super) fn inputs_with_client_axis(&self, variant: &Variant, inputs: usize) -> Vec<bool> {
        let ins = &self.schedule.segments[variant.segment].ins;
        let flags = ins
            .iter()
            .zip(&variant.each)
            .flat_map(|(v, &each)| std::iter::repeat_n(each, self.tensor_count(*v)));
        let mut flags: Vec<bool> = flags.collect();
        // All clients share the inputs that follow, such as hyper-parameters.
        flags.resize(inputs, false);
        flags
    }
}
