//! The control operations of client code.

use burn::tensor::DispatchTensor;
use fedround_exec::executor::Slots;
use fedround_ir::fed::{FedOp, OpKind, OptOp, Value};
use fedround_passes::schedule::Control;
use fedround_random::{Purpose, StreamKey};

use super::ClientGroup;
use crate::context::{missing, read_or_constant};
use crate::error::RunError;
use crate::interpreter::Interpreter;
use crate::interpreter::named_streams::permutation;
use crate::interpreter::public_examples::public_column;
use crate::interpreter::rows::{
    every_class, for_rows, label_counts, local_classes, sample_rows, smallest_rows,
};
use crate::value::batching::{client_slice, flatten};
use crate::value::{Env, RuntimeValue};

impl Interpreter for ClientGroup<'_> {
    fn clients(&self) -> usize {
        self.ids.len()
    }

    fn active(&self) -> Option<&[bool]> {
        self.active.as_deref()
    }

    fn draw_keys(&mut self, purpose: Purpose) -> Vec<StreamKey> {
        let mut drawn = std::mem::take(&mut self.draw_counts);
        let keys = self.next_keys(self.cx.key(purpose), &mut drawn);
        self.draw_counts = drawn;
        keys
    }

    fn draw_counts(&mut self) -> &mut [u64] {
        &mut self.draw_counts
    }

    fn run_control(
        &mut self,
        control: &Control,
        env: &mut Env,
        last_uses: &[Value],
    ) -> Result<(), RunError> {
        let op = &control.op;
        let result = match (&op.kind, &control.body) {
            (OpKind::Opt(OptOp::ForBatches), Some(body)) => {
                return self.for_batches(control, body, env);
            }
            (OpKind::Opt(OptOp::Repeat), Some(body)) => return self.repeat(control, body, env),
            (OpKind::Opt(OptOp::ForRows(n)), Some(body)) => {
                return for_rows(self, self.cx, (control, *n), body, env);
            }
            (OpKind::Opt(OptOp::Collect), Some(body)) => return self.collect(control, body, env),
            (OpKind::Opt(OptOp::SampleRows), _) => return sample_rows(self, self.cx, op, env),
            (OpKind::Opt(OptOp::SmallestRows), _) => return smallest_rows(self.cx, op, env),
            (OpKind::Fed(FedOp::EveryClass), _) => every_class(self.cx),
            (OpKind::Fed(FedOp::Public(name, kind)), _) => {
                public_column(self.cx, op, (name, *kind))?
            }
            (OpKind::Fed(FedOp::LocalClasses), _) => {
                self.for_each_client(op, |id| local_classes(self.cx, id))?
            }
            (OpKind::Fed(FedOp::LabelCounts), _) => {
                self.for_each_client(op, |id| label_counts(self.cx, id))?
            }
            (OpKind::Fed(FedOp::NumExamples), _) => self.for_each_client(op, |id| {
                let n = self.cx.dataset.client_indices[id].len();
                Ok(RuntimeValue::Number(n as f64))
            })?,
            (OpKind::Fed(FedOp::Seconds), _) => self.for_each_client(op, |id| {
                let examples = self.cx.dataset.client_indices[id].len();
                let seconds = self.cx.fates.map(|fates| fates.duration(id, examples));
                Ok(RuntimeValue::Number(seconds.unwrap_or(0.0)))
            })?,
            (OpKind::Fed(FedOp::Uniform(name)), _) => self.draw_for_each(op, name, |key| {
                Ok(RuntimeValue::Number(key.stream().unit()))
            })?,
            (OpKind::Fed(FedOp::Normal(name)), _) => self.draw_for_each(op, name, |key| {
                Ok(RuntimeValue::Number(key.stream().normal()))
            })?,
            (OpKind::Fed(FedOp::Permutation(name)), _) => {
                let cx = self.cx;
                self.draw_for_each(op, name, |key| permutation(cx, op, key))?
            }
            (OpKind::Fed(FedOp::ClientNumber), _) => {
                self.for_each_client(op, |id| Ok(RuntimeValue::Number(id as f64)))?
            }
            (OpKind::Fed(FedOp::RoundIndex), _) => RuntimeValue::Number(self.cx.round_index()),
            (OpKind::Fed(FedOp::NumClients), _) => RuntimeValue::Number(self.cx.clients() as f64),
            (OpKind::Fed(FedOp::ClientState(name, _) | FedOp::ServerState(name, _)), _) => {
                self.current_state(op, name, op.results[0])?
            }
            (OpKind::Fed(FedOp::ClientLabels), _) => self.client_labels(op, env)?,
            (OpKind::Fed(FedOp::Personal(name, _) | FedOp::ServerStateOr(name)), _) => {
                let first = read_or_constant(self.cx, op.operands[1], env, last_uses);
                let first = first.ok_or_else(|| missing(op, "first value"))?;
                self.personal(op, name, &first)?
            }
            (OpKind::Fed(FedOp::Encode(encoding)), _) => {
                self.encode(op, *encoding, env, last_uses)?
            }
            (OpKind::Opt(OptOp::OneBatch), _) => self.one_batch(op)?,
            (OpKind::Fed(FedOp::SetClientState(name) | FedOp::SetServerState(name)), _) => {
                let value = read_or_constant(self.cx, op.operands[1], env, last_uses);
                let value = value.ok_or_else(|| missing(op, "value to keep"))?;
                return self.write_state(op, name, value);
            }
            // Operations of the server, operations that linking replaces, and loops without a body.
            (
                OpKind::Fed(
                    FedOp::Hyper(_)
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
                    | FedOp::InitialParams(_)
                    | FedOp::CurrentCohort
                    | FedOp::Arrivals
                    | FedOp::Dispatch
                    | FedOp::Staleness
                    | FedOp::Broadcast
                    | FedOp::Map
                    | FedOp::InTurn
                    | FedOp::Matrix(..)
                    | FedOp::Mix(_)
                    | FedOp::Consensus
                    | FedOp::Reduce(_)
                    | FedOp::Gather
                    | FedOp::Scatter
                    | FedOp::Concat
                    | FedOp::Positions
                    | FedOp::Pairwise(_)
                    | FedOp::Split(_)
                    | FedOp::StartParams
                    | FedOp::ZeroInputs
                    | FedOp::GlobalParams
                    | FedOp::Call(_)
                    | FedOp::Super(_),
                )
                | OpKind::Opt(
                    OptOp::ForBatches
                    | OptOp::Repeat
                    | OptOp::ForRows(_)
                    | OptOp::Collect
                    | OptOp::Grad,
                )
                | OpKind::Arith(_)
                | OpKind::External(_)
                | OpKind::Tree(_)
                | OpKind::Privacy(_),
                _,
            ) => return Err(missing(op, "form in client code")),
        };
        env.set(op.results[0], result);
        Ok(())
    }

    fn losses(&mut self, losses: &[DispatchTensor], grouped: bool) {
        // Outside a loop over batches, each gradient is a local step.
        if !losses.is_empty() && !self.in_batch_loop {
            self.count_step(&vec![true; self.ids.len()]);
        }
        for loss in losses {
            if grouped && self.active.is_none() {
                self.losses.extend(flatten(loss.clone()));
                continue;
            }
            for k in 0..self.ids.len() {
                if self.is_active(k) {
                    // A loss that all clients share counts once for each client.
                    let shared = (!grouped).then(|| loss.clone());
                    self.losses.extend(shared.or_else(|| client_slice(loss, k)));
                }
            }
        }
    }

    fn slots(&mut self) -> &mut Slots {
        &mut self.slots
    }
}
