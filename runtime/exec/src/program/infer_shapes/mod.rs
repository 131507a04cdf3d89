//! Infers the shapes with which a program is compiled and printed before any client has run: those of one
//! client with full batches.
//!
//! *Rows* are values with one row for each example, such as features and labels. Their types follow from the
//! batches that they are computed from. A walk visits the ops in program order and passes the types on. When
//! it comes to a segment, it calls a function of the caller, which compiles the segment and gives the types of
//! its results.

mod row_types;

use std::collections::HashMap;

use fedround_ir::fed::{FedOp, Kind, Op, OpKind, OptOp, Place, Value};
use fedround_ir::tensor::TensorType;
use fedround_passes::PassManager;
use fedround_passes::schedule::{Block, Control, Item};

use super::Program;
use super::compile_segment::Variant;
use super::error::CompileError;
use row_types::state;

/// The assumed number of clients whose rows `fed.concat` concatenates.
const COHORT: usize = 2;

/// Compiles a segment, and gives the types of the rows among its results.
pub(crate) type VisitSegment<'v> =
    &'v mut dyn FnMut(&Variant) -> Result<Vec<(Value, TensorType)>, CompileError>;

/// The types of the rows that states hold, by the place and the name of the state.
pub(super) type StateTypes = HashMap<(Place, String), TensorType>;

impl Program {
    /// Calls `visit` for each segment, in program order. Batches of the size of the spec's
    /// [first loop](Self::batch_size) have `batch` examples; others have the size in the spec.
    pub(crate) fn visit_segments(
        &self,
        batch: usize,
        visit: VisitSegment,
    ) -> Result<(), CompileError> {
        Walk::new(self, batch, visit).block(&self.schedule.round)
    }

    /// Infers the types of the rows in states from the ops that write them. `earlier` has the states that earlier
    /// phases write.
    ///
    /// A state may be read before it is written, in the round before, and its value may be computed from
    /// another state. The walk is therefore repeated until it finds no more types. Each walk knows the types
    /// that the last one found.
    pub(super) fn infer_state_types(
        &mut self,
        earlier: &StateTypes,
        passes: &mut PassManager,
    ) -> Result<(), CompileError> {
        self.state_types.clone_from(earlier);
        let module = &self.schedule.module;
        let rows = |v: &Value| module.type_of(*v).kind.has_rows();
        let mut states = self.linked.all_ops().filter(|op| state(op).is_some());
        if !states.any(|op| op.operands.iter().chain(&op.results).any(rows)) {
            return Ok(());
        }
        loop {
            let this = &*self;
            let compile = &mut |variant: &Variant| {
                let segment = this.segment_with(variant, passes)?;
                Ok(segment.rows.clone())
            };
            let mut walk = Walk::new(this, this.batch_size(), compile);
            walk.skip_unknown = true;
            walk.block(&this.schedule.round)?;
            let written = walk.written;
            let before = self.state_types.len();
            for (state, ty) in written {
                self.state_types.entry(state).or_insert(ty);
            }
            if self.state_types.len() == before {
                return Ok(());
            }
        }
    }
}

/// A walk through the ops of a round, in program order.
struct Walk<'a, 'v> {
    program: &'a Program,
    /// The size of batches that are as large as the spec's first batch.
    batch: usize,
    /// The types of rows that are known so far.
    rows: HashMap<Value, TensorType>,
    /// The number of examples of each batch.
    batches: HashMap<Value, usize>,
    /// The types of the rows that this walk saw written to states.
    written: StateTypes,
    /// Whether to skip segments that read rows of an unknown type.
    skip_unknown: bool,
    /// The number of clients whose rows are concatenated in the block that is visited.
    cohort: usize,
    visit: VisitSegment<'v>,
}

impl<'a, 'v> Walk<'a, 'v> {
    fn new(program: &'a Program, batch: usize, visit: VisitSegment<'v>) -> Self {
        Self {
            program,
            batch,
            rows: HashMap::new(),
            batches: HashMap::new(),
            written: HashMap::new(),
            skip_unknown: false,
            cohort: COHORT,
            visit,
        }
    }
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
        let kind = |v: &Value| program.schedule.module.type_of(*v).kind;
        let mut row_inputs = ins.iter().filter(|v| kind(v).has_rows());
        let all_known = row_inputs.all(|v| self.rows.contains_key(v));
        if self.skip_unknown && !all_known {
            return Ok(());
        }
        let batches = ins.iter().filter(|v| kind(v) == Kind::Batch);
        let batches = batches.map(|v| self.batches.get(v).copied().unwrap_or(self.batch));
        let rows = ins.iter().filter_map(|v| self.rows.get(v));
        let variant = Variant {
            segment,
            batches: batches.collect(),
            rows: rows.map(|ty| ty.shape.clone()).collect(),
            clients: 1,
            each: vec![false; ins.len()],
        };
        self.rows.extend((self.visit)(&variant)?);
        Ok(())
    }

    fn control(&mut self, control: &Control) -> Result<(), CompileError> {
        let op = &control.op;
        if let (OpKind::Fed(FedOp::Map), Some(body)) = (&op.kind, &control.body) {
            return self.map(control, body);
        }
        if let (Some(start), Some(body)) = (op.kind.carried_from(), &control.body) {
            return self.carrying_loop(op, body, start);
        }
        self.other_op(control)
    }

    /// `fed.map`, with the reductions that follow it directly.
    fn map(&mut self, control: &Control, body: &Block) -> Result<(), CompileError> {
        let op = &control.op;
        self.copy_types(&op.operands, body.args.get(1..).unwrap_or_default());
        self.block(body)?;
        self.copy_types(&body.yields, &op.results);
        for reduction in &control.reductions {
            self.copy_types(&reduction.operands, &reduction.results);
        }
        Ok(())
    }

    /// A loop with loop-carried values. `first_operand` and `first_arg` are the numbers of the first carried
    /// operand and of the first carried argument of the body.
    fn carrying_loop(
        &mut self,
        op: &Op,
        body: &Block,
        (first_operand, first_arg): (usize, usize),
    ) -> Result<(), CompileError> {
        let carried = op.operands.get(first_operand..).unwrap_or_default();
        match op.kind {
            OpKind::Opt(OptOp::ForRows(n)) => {
                self.take_rows(&op.operands[2..2 + n], &body.args, op.operands.get(1));
            }
            OpKind::Opt(OptOp::ForBatches) => {
                self.define_batch(body.args.first(), op.operands.get(2))
            }
            // Other ops have no rows or batches of their own, or carry nothing.
            OpKind::Opt(
                OptOp::Repeat
                | OptOp::OneBatch
                | OptOp::Collect
                | OptOp::SampleRows
                | OptOp::SmallestRows
                | OptOp::Grad,
            )
            | OpKind::Fed(_)
            | OpKind::Arith(_)
            | OpKind::External(_)
            | OpKind::Tree(_)
            | OpKind::Privacy(_) => {}
        }
        self.copy_types(carried, body.args.get(first_arg..).unwrap_or_default());
        let outer_cohort = self.cohort;
        if op.kind == OpKind::Fed(FedOp::InTurn) {
            self.cohort = 1;
        }
        self.block(body)?;
        self.cohort = outer_cohort;
        self.copy_types(&body.yields, &op.results);
        Ok(())
    }

    /// An op that is neither a map nor a loop with loop-carried values.
    fn other_op(&mut self, control: &Control) -> Result<(), CompileError> {
        let op = &control.op;
        match &op.kind {
            OpKind::Fed(kind) => self.fed_rows(op, kind),
            OpKind::Opt(OptOp::SampleRows) => {
                let rows = op.operands.get(1..).unwrap_or_default();
                self.take_rows(rows, &op.results, op.operands.first());
            }
            OpKind::Opt(OptOp::SmallestRows) => {
                let rows = op.operands.get(2..).unwrap_or_default();
                self.take_rows(rows, &op.results, op.operands.first());
            }
            OpKind::Opt(OptOp::OneBatch) => {
                self.define_batch(op.results.first(), op.operands.get(1));
            }
            OpKind::Opt(OptOp::Collect) => {
                if let Some(body) = &control.body {
                    self.define_batch(body.args.first(), op.operands.get(1));
                    self.block(body)?;
                    self.copy_types(&body.yields, &op.results);
                }
                return Ok(());
            }
            OpKind::Opt(OptOp::ForBatches | OptOp::ForRows(_) | OptOp::Repeat | OptOp::Grad)
            | OpKind::Arith(_)
            | OpKind::External(_)
            | OpKind::Tree(_)
            | OpKind::Privacy(_) => self.copy_types(&op.operands, &op.results),
        }
        match &control.body {
            Some(body) => self.block(body),
            None => Ok(()),
        }
    }
}
