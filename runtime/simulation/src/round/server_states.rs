//! States that the server keeps from round to round.

use burn::tensor::DispatchTensor;
use fedround_ir::fed::{Kind, Op, Value};

use super::server::Server;
use crate::context::{missing, read_or_constant, state_or_zeros};
use crate::error::RunError;
use crate::value::batching::leaves;
use crate::value::{Env, RuntimeValue};

impl Server<'_> {
    /// `fed.server_state`: the state, or zeros if it was never set.
    pub(super) fn server_state(&self, name: &str, op: &Op) -> Result<RuntimeValue, RunError> {
        let state = self.state.server.get(name).cloned();
        self.state_value(name, op, state)
    }

    /// `fed.server_state_or`: the state, or the operand if it was never set.
    pub(super) fn server_state_or(
        &self,
        name: &str,
        op: &Op,
        env: &mut Env,
        last_uses: &[Value],
    ) -> Result<RuntimeValue, RunError> {
        match self.state.server.get(name).cloned() {
            state @ Some(_) => self.state_value(name, op, state),
            None => read_or_constant(self.cx, op.operands[0], env, last_uses)
                .ok_or_else(|| missing(op, "first value")),
        }
    }

    /// The value that the tensors of a state are; zeros if it was never set.
    fn state_value(
        &self,
        name: &str,
        op: &Op,
        state: Option<Vec<DispatchTensor>>,
    ) -> Result<RuntimeValue, RunError> {
        let module = &self.cx.program.schedule().module;
        let kind = module.type_of(op.results[0]).kind;
        state_or_zeros(self.cx.program, op, (name, kind), state)
    }

    /// `fed.set_server_state`: sets a state for the next rounds, and for reads later in this round.
    pub(super) fn set_state(
        &mut self,
        name: &str,
        op: &Op,
        env: &mut Env,
        last_uses: &[Value],
    ) -> Result<(), RunError> {
        let module = &self.cx.program.schedule().module;
        let kind = module.type_of(op.operands[0]).kind;
        let value = read_or_constant(self.cx, op.operands[0], env, last_uses);
        let value = value.and_then(|v| leaves(&v, self.cx.program.device()));
        let value = value.ok_or_else(|| missing(op, "value to keep"))?;
        if let (Kind::Scalar, [number]) = (kind, &value[..]) {
            self.readback
                .numbers
                .insert(name.to_owned(), number.clone());
        }
        self.state.server.insert(name.to_owned(), value);
        Ok(())
    }
}
