//! The states of clients: client code reads the states from before its map, and sets states that are pending until the
//! round is committed.

use burn::tensor::DispatchTensor;
use fedround_exec::tensor::transfer_all;
use fedround_ir::fed::{FedOp, Op, OpKind, Value};

use super::ClientGroup;
use crate::context::{missing, state_or_zeros};
use crate::error::RunError;
use crate::value::RuntimeValue;
use crate::value::batching::{select_active, stack_group, unstack};

impl ClientGroup<'_> {
    /// Reads a client state, of the kind of the value `like`: as this map set it, or else as it was before the map, or
    /// else zeros.
    pub(super) fn current_state(
        &self,
        op: &Op,
        name: &str,
        like: Value,
    ) -> Result<RuntimeValue, RunError> {
        if let Some(value) = self.pending_states.get(name) {
            return Ok(value.clone());
        }
        let program = self.cx.program;
        let kind = program.schedule().module.type_of(like).kind;
        self.for_each_client(op, |id| {
            let state = self.state_before_map(id, name)?;
            state_or_zeros(program, op, (name, kind), state)
        })
    }

    /// A client's state from before this map, on the device where the client trains.
    fn state_before_map(
        &self,
        id: usize,
        name: &str,
    ) -> Result<Option<Vec<DispatchTensor>>, RunError> {
        let state = self.states.get(&(id, name.to_owned()))?;
        let device = self.cx.program.device();
        let state = state.map(|leaves| transfer_all(leaves, device));
        Ok(state.transpose()?)
    }

    /// Reads a personal state. Until it is first set, it is the clients' values of `first`. Those of personal parts
    /// become pending states at once: a client begins with the parts that it received first. So do states that all
    /// clients have: every step may read them.
    pub(super) fn personal(
        &mut self,
        op: &Op,
        name: &str,
        first: &RuntimeValue,
    ) -> Result<RuntimeValue, RunError> {
        if let Some(value) = self.pending_states.get(name) {
            return Ok(value.clone());
        }
        let program = self.cx.program;
        let kind = program.schedule().module.type_of(op.results[0]).kind;
        let mut own = Vec::with_capacity(self.ids.len());
        let mut all_set = true;
        for (k, &id) in self.ids.iter().enumerate() {
            let value = match self.state_before_map(id, name)? {
                state @ Some(_) => Some(state_or_zeros(program, op, (name, kind), state)?),
                None => {
                    all_set = false;
                    unstack(first, k)
                }
            };
            own.push(value.ok_or_else(|| missing(op, "first value"))?);
        }
        let value = stack_group(own, self.cx.program.device());
        let value = value.ok_or_else(|| missing(op, "first value"))?;
        let has_parts =
            matches!(&op.kind, OpKind::Fed(FedOp::Personal(_, parts)) if !parts.is_empty());
        let values = match has_parts || all_set {
            true => &mut self.pending_states,
            false => &mut self.first_values,
        };
        values.insert(name.to_owned(), value.clone());
        Ok(value)
    }

    /// Sets a client state. Clients that sit out the step keep the state that they had, or its first value.
    pub(super) fn write_state(
        &mut self,
        op: &Op,
        name: &str,
        value: RuntimeValue,
    ) -> Result<(), RunError> {
        let value = match &self.active {
            None => value,
            Some(active) => {
                let old = match self
                    .pending_states
                    .get(name)
                    .or(self.first_values.get(name))
                {
                    Some(old) => old.clone(),
                    None => self.current_state(op, name, op.operands[1])?,
                };
                select_active(active, &value, &old, self.cx.program.device())
                    .ok_or_else(|| missing(op, "tensors to keep"))?
            }
        };
        self.pending_states.insert(name.to_owned(), value);
        Ok(())
    }
}
