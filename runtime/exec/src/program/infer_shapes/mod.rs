//! The shapes with which a program is compiled and printed before any client has run: one client,
//! full batches, and the rows that follow from these.

mod row_types;

use std::collections::HashMap;

use fedround_ir::fed::{FedOp, Kind, OpKind, OptOp, Place, Value};
use fedround_ir::tensor::TensorType;
use fedround_passes::PassManager;
use fedround_passes::lowering::Frontend;
use fedround_passes::schedule::{Block, Control, Item};

use super::Program;
use super::compile_segment::Variant;
use super::error::CompileError;
use row_types::state;

/// How many clients' rows `fed.concat` joins in this form.
const COHORT: usize = 2;

/// The shape of one row: a number of its own for each row of numbers.
fn row_shape(shape: &[usize]) -> Vec<usize> {
    match shape {
        [_, row @ ..] if !row.is_empty() => row.to_vec(),
        _ => vec![1],
    }
}

/// Compiles a segment; gives its features and labels.
pub(crate) type Visit<'v> =
    &'v mut dyn FnMut(&Variant) -> Result<Vec<(Value, TensorType)>, CompileError>;

/// Types of the features and labels in states, by where the state is and its name.
pub(super) type Kept = HashMap<(Place, String), TensorType>;

impl Program {
    /// Visits the segments in program order. Batches that are as large as those of the spec's
    /// [first loop](Self::batch_size) have `batch` examples, others as many as the spec says.
    pub(crate) fn visit(&self, batch: usize, visit: Visit) -> Result<(), CompileError> {
        Walk::new(self, batch, visit).block(&self.schedule.round)
    }

    /// Works out what states hold from what is kept in them; `earlier` phases kept some. A state may
    /// be kept after it is read, and made from another: each walk knows what the last one found.
    pub(super) fn infer_kept(
        &mut self,
        earlier: &Kept,
        passes: &mut PassManager,
    ) -> Result<(), CompileError> {
        self.kept.clone_from(earlier);
        let module = &self.schedule.module;
        let rows = |v: &Value| matches!(module.type_of(*v).kind, Kind::Tensor | Kind::Labels);
        let mut states = self.linked.all_ops().filter(|op| state(op).is_some());
        if !states.any(|op| op.operands.iter().chain(&op.results).any(rows)) {
            return Ok(());
        }
        loop {
            let this = &*self;
            let compile = &mut |variant: &Variant| Ok(this.compiled(variant, passes)?.rows.clone());
            let mut walk = Walk::new(this, this.batch_size(), compile);
            walk.all_known = true;
            walk.block(&this.schedule.round)?;
            let found = walk.found;
            let before = self.kept.len();
            for (state, ty) in found {
                self.kept.entry(state).or_insert(ty);
            }
            if self.kept.len() == before {
                return Ok(());
            }
        }
    }
}

struct Walk<'a, 'v> {
    program: &'a Program,
    batch: usize,
    /// Types of the features and labels so far.
    rows: HashMap<Value, TensorType>,
    /// How many examples batches have.
    batches: HashMap<Value, usize>,
    /// What is kept in states.
    found: Kept,
    /// Whether segments are left out that read something of an unknown type.
    all_known: bool,
    /// How many clients' rows are joined here.
    cohort: usize,
    visit: Visit<'v>,
}

impl<'a, 'v> Walk<'a, 'v> {
    fn new(program: &'a Program, batch: usize, visit: Visit<'v>) -> Self {
        Self {
            program,
            batch,
            rows: HashMap::new(),
            batches: HashMap::new(),
            found: HashMap::new(),
            all_known: false,
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
        let of_rows = |v: &&Value| matches!(kind(v), Kind::Tensor | Kind::Labels);
        let known = ins
            .iter()
            .filter(of_rows)
            .all(|v| self.rows.contains_key(v));
        if self.all_known && !known {
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
            self.hand_on(&op.operands, body.args.get(1..).unwrap_or_default());
            self.block(body)?;
            self.hand_on(&body.yields, &op.results);
            for reduction in &control.reductions {
                self.hand_on(&reduction.operands, &reduction.results);
            }
            return Ok(());
        }
        if let (Some((control_operands, own)), Some(body)) = (op.kind.carried_from(), &control.body)
        {
            let carried = op.operands.get(control_operands..).unwrap_or_default();
            match op.kind {
                OpKind::Opt(OptOp::ForRows(n)) => {
                    self.rows_of(&op.operands[2..2 + n], &body.args, op.operands.get(1));
                }
                OpKind::Opt(OptOp::ForBatches) => self.batch(body.args.first(), op.operands.get(2)),
                // They have no rows or batches of their own, or carry nothing.
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
            self.hand_on(carried, body.args.get(own..).unwrap_or_default());
            let around = self.cohort;
            if op.kind == OpKind::Fed(FedOp::InTurn) {
                self.cohort = 1;
            }
            self.block(body)?;
            self.cohort = around;
            self.hand_on(&body.yields, &op.results);
            return Ok(());
        }
        match &op.kind {
            OpKind::Opt(OptOp::SampleRows) => {
                let rows = op.operands.get(1..).unwrap_or_default();
                self.rows_of(rows, &op.results, op.operands.first());
            }
            OpKind::Opt(OptOp::SmallestRows) => {
                let rows = op.operands.get(2..).unwrap_or_default();
                self.rows_of(rows, &op.results, op.operands.first());
            }
            OpKind::Fed(FedOp::EveryClass | FedOp::LocalClasses) => {
                let classes = self.program.model.task().classes;
                self.define(&op.results, &TensorType::i32([classes]));
            }
            OpKind::Fed(FedOp::Permutation(_)) => {
                let n = op.operands.first().and_then(|v| self.program.index(*v));
                self.define(&op.results, &TensorType::i32([n.unwrap_or(1)]));
            }
            OpKind::Fed(FedOp::ClientState(..) | FedOp::ServerState(..)) => self.read(op),
            OpKind::Fed(FedOp::SetClientState(_) | FedOp::SetServerState(_)) => self.keep(op),
            OpKind::Opt(OptOp::OneBatch) => self.batch(op.results.first(), op.operands.get(1)),
            OpKind::Fed(FedOp::ServerStateOr(_) | FedOp::Personal(..)) => {
                let first = op.operands.len().saturating_sub(1);
                self.hand_on(op.operands.get(first..).unwrap_or_default(), &op.results);
            }
            OpKind::Fed(FedOp::Public(column, kind)) => {
                let count = op.operands.first().and_then(|v| self.program.index(*v));
                let rows = count.unwrap_or(self.batch).max(1);
                if let Ok(ty) = self.program.model.column(column, *kind, rows) {
                    self.define(&op.results, &ty);
                }
            }
            OpKind::Opt(OptOp::Collect) => {
                if let Some(body) = &control.body {
                    self.batch(body.args.first(), op.operands.get(1));
                    self.block(body)?;
                    self.hand_on(&body.yields, &op.results);
                }
                return Ok(());
            }
            OpKind::Fed(FedOp::ClientLabels) => {
                let rows = self.count_rows(op.operands.get(1));
                self.define(&op.results, &TensorType::i32([rows]));
            }
            OpKind::Fed(FedOp::Positions) => {
                let rows = self.cohort * self.count_rows(op.operands.first());
                self.define(&op.results, &TensorType::i32([rows]));
            }
            OpKind::Fed(FedOp::Pairwise(_)) => {
                self.define(&op.results, &TensorType::f32([self.cohort, self.cohort]));
            }
            OpKind::Fed(FedOp::Matrix(columns, entries)) => {
                let rows = entries.len() / (*columns).max(1);
                self.define(&op.results, &TensorType::f32([rows, *columns]));
            }
            OpKind::Fed(FedOp::Split(Kind::Scalar)) => {}
            OpKind::Fed(FedOp::Split(_)) => {
                self.hand_on(&op.operands, &op.results);
                let row = op.results.first().and_then(|v| self.rows.get_mut(v));
                if let Some(ty) = row {
                    ty.shape = row_shape(&ty.shape);
                }
            }
            OpKind::Fed(FedOp::Concat) if self.is_number(op.operands.first()) => {
                self.define(&op.results, &TensorType::f32([self.cohort]));
            }
            OpKind::Fed(FedOp::Concat) => {
                self.hand_on(&op.operands, &op.results);
                let joined = op.results.first().and_then(|v| self.rows.get_mut(v));
                if let Some(rows) = joined.and_then(|ty| ty.shape.first_mut()) {
                    *rows *= self.cohort;
                }
            }
            OpKind::Fed(
                FedOp::Hyper(_)
                | FedOp::RoundIndex
                | FedOp::NumClients
                | FedOp::NumExamples
                | FedOp::ClientNumber
                | FedOp::StartParams
                | FedOp::Sample
                | FedOp::AllClients
                | FedOp::Within
                | FedOp::Outside
                | FedOp::Rotating
                | FedOp::Reshuffled
                | FedOp::Choose(_)
                | FedOp::Members
                | FedOp::Restrict
                | FedOp::NthLargest
                | FedOp::Seconds
                | FedOp::Uniform(_)
                | FedOp::Normal(_)
                | FedOp::InitialParams(_)
                | FedOp::CurrentCohort
                | FedOp::Arrivals
                | FedOp::Dispatch
                | FedOp::Staleness
                | FedOp::Broadcast
                | FedOp::Map
                | FedOp::InTurn
                | FedOp::Reduce(_)
                | FedOp::Gather
                | FedOp::Scatter
                | FedOp::ZeroInputs
                | FedOp::GlobalParams
                | FedOp::Encode(_)
                | FedOp::Mix(_)
                | FedOp::Consensus
                | FedOp::Call(_)
                | FedOp::Super(_),
            )
            | OpKind::Opt(OptOp::ForBatches | OptOp::ForRows(_) | OptOp::Repeat | OptOp::Grad)
            | OpKind::Arith(_)
            | OpKind::External(_)
            | OpKind::Tree(_)
            | OpKind::Privacy(_) => self.hand_on(&op.operands, &op.results),
        }
        match &control.body {
            Some(body) => self.block(body),
            None => Ok(()),
        }
    }
}
