//! The rules by which shape inference finds the types of rows: how ops pass them on, and how states store
//! them.

use fedround_ir::fed::{Access, Kind, Op, Place, Value};
use fedround_ir::tensor::TensorType;

use super::Walk;

impl Walk<'_, '_> {
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
