//! The rules by which shape inference finds the types of rows: how ops pass them on, and how states store
//! them.

use fedround_ir::fed::{Access, FedOp, Kind, Op, Place, Value};
use fedround_ir::tensor::TensorType;
use fedround_passes::lowering::Frontend;

use super::Walk;

/// The shape of one row of a value of this shape; `[1]` if each row is one number.
fn row_shape(shape: &[usize]) -> Vec<usize> {
    match shape {
        [_, row @ ..] if !row.is_empty() => row.to_vec(),
        _ => vec![1],
    }
}

impl Walk<'_, '_> {
    /// Finds the types of the rows that a federated op gives.
    pub(super) fn fed_rows(&mut self, op: &Op, kind: &FedOp) {
        match kind {
            FedOp::EveryClass | FedOp::LocalClasses => {
                let classes = self.program.model.task().classes;
                self.define(&op.results, &TensorType::i32([classes]));
            }
            FedOp::LabelCounts => {
                let classes = self.program.model.task().classes;
                self.define(&op.results, &TensorType::f32([classes]));
            }
            FedOp::Permutation(_) => {
                let n = op.operands.first().and_then(|v| self.program.index(*v));
                self.define(&op.results, &TensorType::i32([n.unwrap_or(1)]));
            }
            FedOp::ClientState(..) | FedOp::ServerState(..) => self.read_state(op),
            FedOp::SetClientState(_) | FedOp::SetServerState(_) => self.write_state(op),
            FedOp::ServerStateOr(_) | FedOp::Personal(..) => {
                let first = op.operands.len().saturating_sub(1);
                self.copy_types(op.operands.get(first..).unwrap_or_default(), &op.results);
            }
            FedOp::Public(column, kind) => {
                let count = op.operands.first().and_then(|v| self.program.index(*v));
                let rows = count.unwrap_or(self.batch).max(1);
                if let Ok(ty) = self.program.model.column(column, *kind, rows) {
                    self.define(&op.results, &ty);
                }
            }
            FedOp::ClientLabels => {
                let rows = self.count_rows(op.operands.get(1));
                self.define(&op.results, &TensorType::i32([rows]));
            }
            FedOp::Positions => {
                let rows = self.cohort * self.count_rows(op.operands.first());
                self.define(&op.results, &TensorType::i32([rows]));
            }
            FedOp::Pairwise(_) => {
                self.define(&op.results, &TensorType::f32([self.cohort, self.cohort]));
            }
            FedOp::Matrix(columns, entries) => {
                let rows = entries.len() / (*columns).max(1);
                self.define(&op.results, &TensorType::f32([rows, *columns]));
            }
            FedOp::Split(Kind::Scalar) => {}
            FedOp::Split(_) => {
                self.copy_types(&op.operands, &op.results);
                let row = op.results.first().and_then(|v| self.rows.get_mut(v));
                if let Some(ty) = row {
                    ty.shape = row_shape(&ty.shape);
                }
            }
            FedOp::Concat if self.is_number(op.operands.first()) => {
                self.define(&op.results, &TensorType::f32([self.cohort]));
            }
            FedOp::Concat => {
                self.copy_types(&op.operands, &op.results);
                let joined = op.results.first().and_then(|v| self.rows.get_mut(v));
                if let Some(rows) = joined.and_then(|ty| ty.shape.first_mut()) {
                    *rows *= self.cohort;
                }
            }
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
            | FedOp::CohortSize
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
            | FedOp::Super(_) => self.copy_types(&op.operands, &op.results),
        }
    }

    /// Sets the type of all `values`.
    pub(super) fn define(&mut self, values: &[Value], ty: &TensorType) {
        let typed = values.iter().map(|v| (*v, ty.clone()));
        self.rows.extend(typed);
    }

    pub(super) fn is_number(&self, value: Option<&Value>) -> bool {
        let ty = |v: &Value| self.program.schedule.module.type_of(*v).kind;
        value.map(ty) == Some(Kind::Scalar)
    }

    /// The number of rows of a value; 0 if its type is unknown.
    pub(super) fn count_rows(&self, value: Option<&Value>) -> usize {
        let ty = value.and_then(|v| self.rows.get(v));
        ty.and_then(|ty| ty.shape.first().copied())
            .unwrap_or_default()
    }

    /// Gives each value in `to` the type of the value in `from`, with at most `size` rows.
    pub(super) fn take_rows(&mut self, from: &[Value], to: &[Value], size: Option<&Value>) {
        let size = size
            .and_then(|v| self.program.index(*v))
            .unwrap_or(1)
            .max(1);
        for (from, to) in from.iter().zip(to) {
            if let Some(mut ty) = self.rows.get(from).cloned() {
                if let Some(rows) = ty.shape.first_mut() {
                    *rows = size.min(*rows).max(1);
                }
                self.rows.insert(*to, ty);
            }
        }
    }

    /// Sets the size of a batch. A batch of the size of the spec's first batch gets the batch size of the walk,
    /// and others keep that of the spec.
    pub(super) fn define_batch(&mut self, batch: Option<&Value>, size: Option<&Value>) {
        let spec_size = size
            .and_then(|v| self.program.index(*v))
            .unwrap_or(1)
            .max(1);
        let size = match spec_size == self.program.batch_size() {
            true => self.batch,
            false => spec_size,
        };
        self.batches.extend(batch.map(|v| (*v, size)));
    }

    /// Gives the result of an op that reads a state the type of the values stored there. A state that no op
    /// writes is assumed to hold a batch of the model's inputs or of class labels; a run that reads such a
    /// state ends with an error.
    pub(super) fn read_state(&mut self, op: &Op) {
        let program = self.program;
        let Some((v, state)) = op.results.first().zip(state(op)) else {
            return;
        };
        let written = self.written.get(&state);
        let stored = written.or_else(|| program.state_types.get(&state));
        let assumed = match program.schedule.module.type_of(*v).kind {
            _ if stored.is_some() || self.skip_unknown => None,
            Kind::Tensor => Some(program.model.input(self.batch)),
            Kind::Labels => Some(TensorType::i32([self.batch])),
            Kind::Params
            | Kind::Scalar
            | Kind::Index
            | Kind::Batch
            | Kind::Client
            | Kind::Cohort => None,
        };
        let ty = stored.cloned().or(assumed);
        self.rows.extend(ty.map(|ty| (*v, ty)));
    }

    /// Notes the type of the value that an op writes to a state.
    pub(super) fn write_state(&mut self, op: &Op) {
        let value = op.operands.last().and_then(|v| self.rows.get(v));
        if let Some((state, ty)) = state(op).zip(value) {
            self.written.entry(state).or_insert_with(|| ty.clone());
        }
    }

    /// Gives each value in `to` the type of the value in `from`.
    pub(super) fn copy_types(&mut self, from: &[Value], to: &[Value]) {
        for (from, to) in from.iter().zip(to) {
            if let Some(ty) = self.rows.get(from).cloned() {
                self.rows.insert(*to, ty);
            }
        }
    }
}

/// The place and the name of the state that an op reads or writes. `None` for an op whose operand is the first
/// value of the state: its type is that of the operand.
pub(super) fn state(op: &Op) -> Option<(Place, String)> {
    let state = op.kind.state()?;
    (state.access != Access::ReadOr).then(|| (state.place, state.name.to_owned()))
}
