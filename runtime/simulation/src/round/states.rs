//! States that the server keeps from round to round.

use burn::tensor::DispatchTensor;
use fedround_ir::fed::{Kind, Op, Value};

use super::server::Server;
use crate::context::{kept_or_zeros, missing, written};
use crate::error::RunError;
use crate::value::batching::leaves;
use crate::value::{Env, RtVal};

impl Server<'_> {
    /// `fed.server_state`: what was kept, or zeros.
    pub(super) fn server_state(&self, name: &str, op: &Op) -> Result<RtVal, RunError> {
        let kept = self.state.server.get(name).cloned();
        self.kept(name, op, kept)
    }

    /// `fed.server_state_or`: what was kept, or the first value.
    pub(super) fn server_state_or(
        &self,
        name: &str,
        op: &Op,
        env: &mut Env,
        last: &[Value],
    ) -> Result<RtVal, RunError> {
        match self.state.server.get(name).cloned() {
            kept @ Some(_) => self.kept(name, op, kept),
            None => written(self.cx, op.operands[0], env, last)
                .ok_or_else(|| missing(op, "first value")),
        }
    }

    fn kept(
        &self,
        name: &str,
        op: &Op,
        kept: Option<Vec<DispatchTensor>>,
    ) -> Result<RtVal, RunError> {
        let module = &self.cx.program.schedule().module;
        let kind = module.type_of(op.results[0]).kind;
        kept_or_zeros(self.cx.program, op, (name, kind), kept)
    }

    /// `fed.set_server_state`.
    pub(super) fn set_state(
        &mut self,
        name: &str,
        op: &Op,
        env: &mut Env,
        last: &[Value],
    ) -> Result<(), RunError> {
        let module = &self.cx.program.schedule().module;
        let kind = module.type_of(op.operands[0]).kind;
        let value = written(self.cx, op.operands[0], env, last);
        let value = value.and_then(|v| leaves(&v, self.cx.program.device()));
        let value = value.ok_or_else(|| missing(op, "value to keep"))?;
        if let (Kind::Scalar, [number]) = (kind, &value[..]) {
            self.set_numbers.insert(name.to_owned(), number.clone());
        }
        self.state.server.insert(name.to_owned(), value);
        Ok(())
    }
}
