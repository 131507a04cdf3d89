//! The form of each segment that a program is compiled and printed for before any client has run:
//! one client, batches of one size, and the features and labels that come of them.

use std::collections::HashMap;

use fedround_ir::fed::{Kind, OpKind, Value};
use fedround_ir::tensor::TensorType;
use fedround_passes::tensor::{Block, Control, Item};

use crate::error::CompileError;
use crate::program::{Program, Variant};

/// How many clients' rows `fed.concat` joins in this form.
const COHORT: usize = 2;

/// Compiles a segment; gives its features and labels.
pub(crate) type Visit<'v> =
    &'v mut dyn FnMut(&Variant) -> Result<Vec<(Value, TensorType)>, CompileError>;

impl Program {
    /// Visits the segments in program order, for batches of `batch` examples.
    pub(crate) fn visit(&self, batch: usize, visit: Visit) -> Result<(), CompileError> {
        let mut walk = Walk {
            program: self,
            batch,
            rows: HashMap::new(),
            visit,
        };
        walk.block(&self.schedule.round)
    }
}

struct Walk<'a, 'v> {
    program: &'a Program,
    batch: usize,
    /// Types of the features and labels so far.
    rows: HashMap<Value, TensorType>,
    visit: Visit<'v>,
}

impl Walk<'_, '_> {
    fn block(&mut self, block: &Block) -> Result<(), CompileError> {
        for (item, _) in &block.items {
            match item {
                Item::Compute(i) => self.segment(*i)?,
                Item::Control(control) => self.control(control)?,
            }
        }
        Ok(())
    }

    fn segment(&mut self, segment: usize) -> Result<(), CompileError> {
        let program = self.program;
        let ins = &program.schedule.segments[segment].ins;
        let kinds = ins.iter().map(|v| program.schedule.module.type_of(*v).kind);
        let batches = kinds.filter(|kind| *kind == Kind::Batch).count();
        let rows = ins.iter().filter_map(|v| self.rows.get(v));
        let variant = Variant {
            segment,
            batches: vec![self.batch; batches],
            rows: rows.map(|ty| ty.shape.clone()).collect(),
            clients: 1,
            each: vec![false; ins.len()],
        };
        self.rows.extend((self.visit)(&variant)?);
        Ok(())
    }

    fn control(&mut self, control: &Control) -> Result<(), CompileError> {
        let op = &control.op;
        if let (OpKind::Map, Some(body)) = (&op.kind, &control.body) {
            self.hand_on(&op.operands, body.args.get(1..).unwrap_or_default());
            self.block(body)?;
            self.hand_on(&body.yields, &op.results);
            for reduction in &control.reductions {
                self.hand_on(&reduction.operands, &reduction.results);
            }
            return Ok(());
        }
        match op.kind {
            OpKind::ClientLabels => {
                let of = op.operands.get(1).and_then(|v| self.rows.get(v));
                let rows = of.and_then(|ty| ty.shape.first().copied());
                let labels = TensorType::i32([rows.unwrap_or_default()]);
                self.rows
                    .extend(op.results.iter().map(|v| (*v, labels.clone())));
            }
            OpKind::Concat => {
                self.hand_on(&op.operands, &op.results);
                let joined = op.results.first().and_then(|v| self.rows.get_mut(v));
                if let Some(rows) = joined.and_then(|ty| ty.shape.first_mut()) {
                    *rows *= COHORT;
                }
            }
            _ => self.hand_on(&op.operands, &op.results),
        }
        match &control.body {
            Some(body) => self.block(body),
            None => Ok(()),
        }
    }

    fn hand_on(&mut self, from: &[Value], to: &[Value]) {
        for (from, to) in from.iter().zip(to) {
            if let Some(ty) = self.rows.get(from).cloned() {
                self.rows.insert(*to, ty);
            }
        }
    }
}
