//! The rows of features and labels that a region sends, as far as its graphs tell: the shape of a row, and which
//! values have as many rows as each other.

use fedround_exec::Program;
use fedround_exec::program::Variant;
use fedround_ir::fed::{Kind, OpKind, OptOp, Value};
use fedround_passes::parties::Region;
use fedround_passes::schedule::{Block, Item};

use super::table::code_of;

/// The rows of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rows {
    /// The shape of one of them.
    pub shape: Vec<usize>,
    /// Where they come from, if there is one for each of some examples.
    pub source: Option<Source>,
}

/// Which examples rows are of: the batch that they are made of, and the ops that collect or draw them, from the
/// inside.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Source {
    batch: Value,
    ops: Vec<Value>,
}

/// A value is traced back through so many steps.
const DEPTH: usize = 8;

/// The rows of each output of a region; `None` of those that depend on features or labels that were sent to it,
/// or that it kept.
pub(super) fn rows_sent(phase: &Program, region: &Region) -> Vec<Option<Rows>> {
    let code = code_of(&phase.schedule().round, region.client);
    let rows = |i: usize| {
        let (_, code) = code?;
        let value = *code.yields.get(i)?;
        let output = region.outputs.get(i)?;
        (output.send && is_rows(output.kind)).then_some(())?;
        // What differs between batches of two sizes is no part of a row.
        let made = [2, 3].map(|batch| (batch, Tracer { phase, batch }.made(code, value, DEPTH)));
        let [(n, Some(small)), (m, Some(large))] = made else {
            return None;
        };
        let (small_rows, shape) = small.shape.split_first()?;
        let (large_rows, other) = large.shape.split_first()?;
        let follow = (*small_rows, *large_rows) == (n, m);
        (shape == other).then(|| Rows {
            shape: shape.to_vec(),
            source: small.source.filter(|_| follow),
        })
    };
    (0..region.outputs.len()).map(rows).collect()
}

/// Whether a value has rows.
pub(super) fn is_rows(kind: Kind) -> bool {
    matches!(kind, Kind::Tensor | Kind::Labels)
}

/// Traces values of a phase, with all batches of one size.
struct Tracer<'p> {
    phase: &'p Program,
    batch: usize,
}

/// What is traced of a value: its shape where one batch is all that there is, and the only source of the rows
/// that it is made of.
struct Made {
    shape: Vec<usize>,
    source: Option<Source>,
}

impl Tracer<'_> {
    /// A value that code makes.
    fn made(&self, code: &Block, value: Value, depth: usize) -> Option<Made> {
        let depth = depth.checked_sub(1)?;
        for (item, _) in &code.items {
            let control = match item {
                Item::Control(control) => control,
                Item::Compute(i) => {
                    let segment = self.phase.schedule().segments.get(*i)?;
                    if segment.outs.contains(&value) {
                        return self.computed(code, (*i, value), depth);
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
            let mut made = self.made(code, from?, depth)?;
            if let Some(source) = &mut made.source {
                source.ops.extend(op.results.first());
            }
            return Some(made);
        }
        None
    }

    /// A value that a compute segment makes.
    fn computed(&self, code: &Block, (index, value): (usize, Value), depth: usize) -> Option<Made> {
        let ins = &self.phase.schedule().segments.get(index)?.ins;
        let (mut batches, mut rows, mut sources) = (vec![], vec![], vec![]);
        for &v in ins {
            match self.phase.schedule().module.type_of(v).kind {
                Kind::Batch => {
                    batches.push(self.batch);
                    let (batch, ops) = (v, vec![]);
                    sources.push(Some(Source { batch, ops }));
                }
                kind if is_rows(kind) => {
                    let made = self.made(code, v, depth)?;
                    rows.push(made.shape);
                    sources.push(made.source);
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
        // A model that cannot be traced for such a batch says nothing of its rows.
        let segment = self.phase.segment(&variant).ok()?;
        let (_, ty) = segment.rows.iter().find(|(v, _)| *v == value)?;
        sources.dedup();
        let only = (sources.len() == 1).then(|| sources.pop()).flatten();
        Some(Made {
            shape: ty.shape.clone(),
            source: only.flatten(),
        })
    }
}
