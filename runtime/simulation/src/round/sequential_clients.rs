//! `fed.in_turn`: the clients of a cohort train one after the other, each from the result of the one before.

use fedround_passes::schedule::{Block, Control};

use super::server::Server;
use crate::context::missing;
use crate::error::RunError;
use crate::interpreter::loops::{initial_values, yielded_values};
use crate::interpreter::run_block;
use crate::value::{Env, RuntimeValue};

impl Server<'_> {
    /// Runs the body once for each client that takes part.
    pub(super) fn run_sequentially(
        &mut self,
        control: &Control,
        body: &Block,
        env: &mut Env,
    ) -> Result<(), RunError> {
        let op = &control.op;
        let cohort = op.operands.first().and_then(|v| env.peek(*v)).cloned();
        let (Some(RuntimeValue::Cohort(called)), [client, args @ ..]) =
            (cohort, body.args.as_slice())
        else {
            return Err(missing(op, "cohort"));
        };
        let mut seconds = self.attendance.seconds;
        let ids = self.call(&called, called.len())?;
        self.cx.count_plain_steps(control, body, ids.len());
        // Each client starts from the result of the one before. If one is lost, the round is repeated without it.
        self.uploads.used = true;
        let mut values = initial_values(self.cx, control, 1, env)?;
        for &id in ids.iter() {
            env.set(*client, RuntimeValue::Cohort([id].into()));
            env.set_all(args, values);
            // Sequential clients take the sum of their times, not the time of the slowest.
            self.attendance.seconds = 0.0;
            run_block(self, self.cx, body, env)?;
            seconds += self.attendance.seconds;
            values = yielded_values(self.cx, body, op, env)?;
        }
        self.attendance.seconds = seconds;
        env.set_all(&op.results, values);
        Ok(())
    }
}
