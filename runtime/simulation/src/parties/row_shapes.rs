//! The rows of features and labels that a region sends, as far as they follow from its graphs: the shape of a row, and
//! which values have equally many rows.

use fedround_exec::Program;
use fedround_exec::program::Variant;
use fedround_ir::fed::{Kind, OpKind, OptOp, Value};
use fedround_passes::parties::Region;
use fedround_passes::schedule::{Block, Item};

use super::table::map_of_region;

/// What is known of the rows of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rows {
    /// The shape of one row.
    pub shape: Vec<usize>,
    /// The examples from which the rows are computed, if there is one row for each; `None` otherwise.
    pub source: Option<Source>,
}

/// The examples from which rows are computed: their batch, and the operations that collect or draw rows, from the
/// innermost to the outermost. Values with the same source have equally many rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Source {
    batch: Value,
    ops: Vec<Value>,
}

/// The largest number of operations through which a value is traced back.
const DEPTH: usize = 8;

/// The rows of each output of a region. `None` for other kinds of values, and for values that depend on features or
/// labels that the client received or kept.
pub(super) fn rows_sent(phase: &Program, region: &Region) -> Vec<Option<Rows>> {
    let code = map_of_region(&phase.schedule().round, region.client);
    let rows = |i: usize| {
        let (_, code) = code?;
        let value = *code.yields.get(i)?;
        let output = region.outputs.get(i)?;
        (output.send && output.kind.has_rows()).then_some(())?;
        // Traced with batches of two sizes: only the number of rows may differ between them.
        let traced = [2, 3].map(|batch| (batch, Tracer { phase, batch }.trace(code, value, DEPTH)));
        let [(n, Some(small)), (m, Some(large))] = traced else {
            return None;
        };
        let (small_rows, shape) = small.shape.split_first()?;
        let (large_rows, other) = large.shape.split_first()?;
        let one_row_each = (*small_rows, *large_rows) == (n, m);
        (shape == other).then(|| Rows {
            shape: shape.to_vec(),
            source: small.source.filter(|_| one_row_each),
        })
    };
    (0..region.outputs.len()).map(rows).collect()
}

/// Traces the values of a phase back to batches, which all have the same size.
struct Tracer<'p> {
    phase: &'p Program,
    batch: usize,
}

/// A traced value: its shape if a client has a single batch, and the source of its rows, if there is only one.
struct Traced {
    shape: Vec<usize>,
    source: Option<Source>,
}

impl Tracer<'_> {
    /// Traces a value that an item of `code` computes.
    fn trace(&self, code: &Block, value: Value, depth: usize) -> Option<Traced> {
        let depth = depth.checked_sub(1)?;
        for (item, _) in &code.items {
            let control = match item {
                Item::Control(control) => control,
                Item::Compute(i) => {
                    let segment = self.phase.schedule().segments.get(*i)?;
                    if segment.outs.contains(&value) {
                        return self.trace_segment(code, (*i, value), depth);
                    }
                    continue;
                }
            };
            let op = &control.op;
            let Some(place) = op.results.iter().position(|v| *v == value) else {
                continue;
            };
            let operand = |first: usize| op.operands.get(first + place).copied();
            let (code, from) = match (&op.kind, &control.body) {
                (_, Some(body)) => (body, body.yields.get(place).copied()),
                (OpKind::Opt(OptOp::SampleRows), None) => (code, operand(1)),
                (OpKind::Opt(OptOp::SmallestRows), None) => (code, operand(2)),
                _ => return None,
            };
            let mut traced = self.trace(code, from?, depth)?;
            if let Some(source) = &mut traced.source {
                source.ops.extend(op.results.first());
            }
            return Some(traced);
        }
        None
    }

    /// Traces a value that a compute segment computes.
    fn trace_segment(
        &self,
        code: &Block,
        (index, value): (usize, Value),
        depth: usize,
    ) -> Option<Traced> {
        let ins = &self.phase.schedule().segments.get(index)?.ins;
        let (mut batches, mut rows, mut sources) = (vec![], vec![], vec![]);
        for &v in ins {
            match self.phase.schedule().module.type_of(v).kind {
                Kind::Batch => {
                    batches.push(self.batch);
                    let (batch, ops) = (v, vec![]);
                    sources.push(Some(Source { batch, ops }));
                }
                kind if kind.has_rows() => {
                    let traced = self.trace(code, v, depth)?;
                    rows.push(traced.shape);
                    sources.push(traced.source);
                }
                _ => {}
            }
        }
        let variant = Variant {
            segment: index,
            batches,
            rows,
            clients: 1,
            each: vec![false; ins.len()],
        };
        // If the model cannot be traced for this batch size, nothing is known of the rows.
        let segment = self.phase.segment(&variant).ok()?;
        let (_, ty) = segment.rows.iter().find(|(v, _)| *v == value)?;
        sources.dedup();
        let only = (sources.len() == 1).then(|| sources.pop()).flatten();
        Some(Traced {
            shape: ty.shape.clone(),
            source: only.flatten(),
        })
    }
}
