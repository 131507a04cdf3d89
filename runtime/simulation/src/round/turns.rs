//! `fed.in_turn`: the clients of a cohort, one after the other.

use fedround_passes::schedule::{Block, Control};

use super::server::Server;
use crate::context::missing;
use crate::error::RunError;
use crate::interpreter::loops::{carried, next};
use crate::interpreter::walk;
use crate::loop_form::Runner;
use crate::value::{Env, RtVal};

impl Server<'_> {
    /// Runs the body once for each client that comes.
    pub(crate) fn in_turn(
        &mut self,
        control: &Control,
        body: &Block,
        env: &mut Env,
    ) -> Result<(), RunError> {
        let op = &control.op;
        let cohort = op.operands.first().and_then(|v| env.peek(*v)).cloned();
        let (Some(RtVal::Cohort(called)), [one, args @ ..]) = (cohort, body.args.as_slice()) else {
            return Err(missing(op, "cohort"));
        };
        let mut seconds = self.attendance.seconds;
        let ids = self.call(&called, called.len())?;
        self.cx.plain((control, body), Runner::Server, ids.len());
        // The next client goes on from what one gave: if one is lost, the round is repeated without it.
        self.has_taken = true;
        let mut values = carried(self.cx, control, 1, env)?;
        for &id in ids.iter() {
            env.set(*one, RtVal::Cohort([id].into()));
            for (arg, value) in args.iter().zip(values) {
                env.set(*arg, value);
            }
            // Turns take the sum of their times, not that of the slowest client.
            self.attendance.seconds = 0.0;
            walk(self, self.cx, body, env)?;
            seconds += self.attendance.seconds;
            values = next(self.cx, body, op, env)?;
        }
        self.attendance.seconds = seconds;
        for (result, value) in op.results.iter().zip(values) {
            env.set(*result, value);
        }
        Ok(())
    }
}
