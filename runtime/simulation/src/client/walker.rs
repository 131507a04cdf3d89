//! The operations of clients' code, one by one.

use burn::tensor::DispatchTensor;
use fedround_exec::executor::Slots;
use fedround_ir::fed::{FedOp, OpKind, OptOp, Value};
use fedround_passes::schedule::Control;
use fedround_random::{Drawer, Purpose, StreamKey};

use super::Clients;
use crate::context::{missing, written};
use crate::error::RunError;
use crate::interpreter::Walker;
use crate::interpreter::named::permutation;
use crate::interpreter::public::public;
use crate::interpreter::rows::{classes, draw, every_class, for_rows, label_counts, least};
use crate::value::batching::{flat, lane};
use crate::value::{Env, RtVal};

impl Walker for Clients<'_> {
    fn clients(&self) -> usize {
        self.ids.len()
    }

    fn live(&self) -> Option<&[bool]> {
        self.live.as_deref()
    }

    fn draw_keys(&mut self, purpose: Purpose) -> Vec<StreamKey> {
        let key = self.cx.key(purpose);
        let drawer = |k: usize| Drawer::Client {
            client: self.ids[k],
            map: self.map,
            turn: self.turns[k],
        };
        let clients = self.random_runs.iter().enumerate();
        let keys = clients.map(|(k, &runs)| key.with_drawer(drawer(k), runs));
        let keys = keys.collect();
        for (k, runs) in self.random_runs.iter_mut().enumerate() {
            *runs += u64::from(self.live.as_ref().is_none_or(|live| live[k]));
        }
        keys
    }

    fn draws(&mut self) -> &mut [u64] {
        &mut self.random_runs
    }

    fn control(
        &mut self,
        control: &Control,
        env: &mut Env,
        last: &[Value],
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
            (OpKind::Opt(OptOp::SampleRows), _) => return draw(self, self.cx, op, env),
            (OpKind::Opt(OptOp::SmallestRows), _) => return least(self.cx, op, env),
            (OpKind::Fed(FedOp::EveryClass), _) => every_class(self.cx),
            (OpKind::Fed(FedOp::Public(name, kind)), _) => public(self.cx, op, (name, *kind))?,
            (OpKind::Fed(FedOp::LocalClasses), _) => self.each(op, |id| classes(self.cx, id))?,
            (OpKind::Fed(FedOp::LabelCounts), _) => {
                self.each(op, |id| Ok(label_counts(self.cx, id)))?
            }
            (OpKind::Fed(FedOp::NumExamples), _) => self.each(op, |id| {
                let n = self.cx.dataset.client_indices[id].len();
                Ok(RtVal::Host(n as f64))
            })?,
            (OpKind::Fed(FedOp::Seconds), _) => self.each(op, |id| {
                let examples = self.cx.dataset.client_indices[id].len();
                let seconds = self.cx.fates.map(|fates| fates.duration(id, examples));
                Ok(RtVal::Host(seconds.unwrap_or(0.0)))
            })?,
            (OpKind::Fed(FedOp::Uniform(name)), _) => {
                let keys = self.named_keys(name);
                self.drawn(op, &keys, |key| Ok(RtVal::Host(key.stream().unit())))?
            }
            (OpKind::Fed(FedOp::Normal(name)), _) => {
                let keys = self.named_keys(name);
                self.drawn(op, &keys, |key| Ok(RtVal::Host(key.stream().normal())))?
            }
            (OpKind::Fed(FedOp::Permutation(name)), _) => {
                let keys = self.named_keys(name);
                self.drawn(op, &keys, |key| permutation(self.cx, op, key))?
            }
            (OpKind::Fed(FedOp::ClientNumber), _) => {
                self.each(op, |id| Ok(RtVal::Host(id as f64)))?
            }
            (OpKind::Fed(FedOp::RoundIndex), _) => RtVal::Host(self.cx.round_index()),
            (OpKind::Fed(FedOp::NumClients), _) => RtVal::Host(self.cx.clients() as f64),
            (OpKind::Fed(FedOp::ClientState(name, _) | FedOp::ServerState(name, _)), _) => {
                self.kept(op, name)?
            }
            (OpKind::Fed(FedOp::ClientLabels), _) => self.labels(op, env)?,
            (OpKind::Fed(FedOp::Personal(name, _) | FedOp::ServerStateOr(name)), _) => {
                let first = written(self.cx, op.operands[1], env, last);
                let first = first.ok_or_else(|| missing(op, "first value"))?;
                self.personal(op, name, &first)?
            }
            (OpKind::Fed(FedOp::Encode(encoding)), _) => self.encode(op, *encoding, env, last)?,
            (OpKind::Opt(OptOp::OneBatch), _) => self.one_batch(op)?,
            (OpKind::Fed(FedOp::SetClientState(name) | FedOp::SetServerState(name)), _) => {
                let value = written(self.cx, op.operands[1], env, last);
                let value = value.ok_or_else(|| missing(op, "value to keep"))?;
                return self.keep(op, name, value);
            }
            // Work of the server, what linking resolves, and loops without a body.
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
        // Outside of a loop over batches, such as on one batch, a gradient is a step.
        if !losses.is_empty() && !self.in_step {
            self.count_step(&vec![true; self.ids.len()]);
        }
        for loss in losses {
            if grouped && self.live.is_none() {
                self.losses.extend(flat(loss.clone()));
                continue;
            }
            for k in 0..self.ids.len() {
                if self.live.as_ref().is_none_or(|live| live[k]) {
                    // A loss that the clients share counts once for each.
                    let shared = (!grouped).then(|| loss.clone());
                    self.losses.extend(shared.or_else(|| lane(loss, k)));
                }
            }
        }
    }

    fn slots(&mut self) -> &mut Slots {
        &mut self.slots
    }
}
