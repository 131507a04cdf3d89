//! Draws the cohorts of a round, and calls their clients, of whom some may fail or be late.

use std::sync::Arc;

use fedround_exec::program::sample_size;
use fedround_ir::fed::{FedOp, Op, OpKind};

use super::server::Server;
use crate::context::missing;
use crate::error::RunError;
use crate::regions::Lost;
use crate::sampling::{Pass, cohort, reshuffled, rotating};
use crate::value::{Env, RtVal};

impl Server<'_> {
    pub(super) fn sample(&mut self, op: &Op, env: &Env) -> Result<RtVal, RunError> {
        // None of all clients' numbers are listed: there may be many, of which few take part.
        let among = match op.operands.get(1).map(|v| env.peek(*v)) {
            None => None,
            Some(Some(RtVal::Cohort(ids))) => Some(Arc::clone(ids)),
            Some(_) => return Err(missing(op, "cohort")),
        };
        let clients = among.as_ref().map_or(self.cx.clients(), |ids| ids.len());
        let c = self.cx.program.real(op.operands[0]);
        let c = c.ok_or_else(|| missing(op, "fraction known before the round"))?;
        let place = |k| {
            among
                .as_ref()
                .map_or(Some(k), |ids| ids.iter().position(|id| *id == k))
        };
        // The newcomer's place among those drawn from, of which there are others.
        let new = self.cx.joined().and_then(|(k, new)| Some((place(k)?, new)));
        let others = clients - usize::from(new.is_some());
        let m = new.map_or_else(|| sample_size(c, others), |(_, new)| new.beside(others));
        let new = new.map(|(place, _)| place);
        let wanted = m.min(others) + usize::from(new.is_some());
        let m = match self.cx.fates {
            Some(fates) => (fates.faults.over_select * m as f64).ceil() as usize,
            None => m,
        };
        let draw = self.draws;
        self.draws += 1;
        let ids = cohort(self.cx.seed, self.cx.round, draw, others, m).into_iter();
        let ids = ids.map(|i| i + usize::from(new.is_some_and(|new| i >= new)));
        let ids = new.into_iter().chain(ids);
        let ids = ids.map(|i| among.as_ref().map_or(i, |ids| ids[i]));
        let ids: Vec<usize> = ids.collect();
        Ok(RtVal::Cohort(self.call(&ids, wanted)?))
    }

    /// A cohort most of whom are those of the round before.
    pub(super) fn rotating(&self, op: &Op) -> Result<RtVal, RunError> {
        let (m, dropped) = self.counts(op)?;
        let new = self.cx.joined();
        let others = self.cx.clients() - usize::from(new.is_some());
        // No more in all: values of the spec may have a place for each.
        let m = new.map_or(m, |(_, new)| new.beside(others).min(m.saturating_sub(1)));
        let ids = rotating(self.cx.seed, self.cx.round, others, (m, dropped));
        let new = new.map(|(k, _)| k).into_iter();
        Ok(RtVal::Cohort(new.chain(ids).collect()))
    }

    /// The next clients of a random order of all.
    pub(super) fn reshuffled(&self, op: &Op) -> Result<RtVal, RunError> {
        if self.cx.newcomer.is_some() {
            return Err(RunError::LateInPasses { loc: op.loc });
        }
        let m = op.operands.first().and_then(|v| self.cx.program.index(*v));
        let m = m.ok_or_else(|| missing(op, "count"))?;
        if m == 0 {
            let why = "`reshuffled(0)` has no clients; give it a count above 0";
            return Err(RunError::Empty { why, loc: op.loc });
        }
        let clients = self.cx.clients();
        let pass = Pass::of(self.cx.round, clients, m);
        Ok(RtVal::Cohort(
            reshuffled(self.cx.seed, pass, clients, m).into(),
        ))
    }

    /// Calls some clients; the `wanted` fastest of those that come take part.
    pub(super) fn call(
        &mut self,
        called: &[usize],
        wanted: usize,
    ) -> Result<Arc<[usize]>, RunError> {
        if called.is_empty() {
            // Nobody was chosen: the round is skipped.
            return Err(RunError::TooFew {
                called: 0,
                there: 0,
                needed: 1,
            });
        }
        let (absent, parts) = (self.cx.absent, &self.cx.dataset.client_indices);
        let present = called.iter().copied().filter(|k| !absent.contains(k));
        let (present, offline): (Vec<usize>, Vec<usize>) =
            present.partition(|&k| self.clients.is_there(k));
        self.attendance.failed.extend(offline);
        let examples = |k: usize| parts[k].len();
        let fates = self.cx.fates;
        let there = self.attendance.call(fates, &present, wanted, examples);
        let needed = self.cx.least.max(1).min(wanted);
        if there.len() < wanted && there.len() < needed {
            return Err(RunError::TooFew {
                called: called.len(),
                there: there.len(),
                needed,
            });
        }
        Ok(there.into())
    }

    /// Takes clients that were lost in a map out of the round: what there is of them is dropped, and the rest
    /// of the round is that of a cohort without them. Gives the clients of the map that are left.
    ///
    /// # Errors
    ///
    /// Too few are left; or the server has used what they sent, and the round has to be repeated without
    /// them.
    pub(super) fn lose(
        &mut self,
        called: &[usize],
        lost: &Lost,
        env: &mut Env,
    ) -> Result<Arc<[usize]>, RunError> {
        self.attendance.failed.extend(&lost.failed);
        self.attendance.late.extend(&lost.late);
        let lost = lost.all();
        if self.has_taken {
            return Err(RunError::Lost {
                clients: lost.iter().copied().collect(),
            });
        }
        let left = called.iter().filter(|k| !lost.contains(k));
        let left: Arc<[usize]> = left.copied().collect();
        let needed = self.cx.least.max(1).min(called.len());
        if left.len() < needed {
            return Err(RunError::TooFew {
                called: called.len(),
                there: left.len(),
                needed,
            });
        }
        env.drop_clients(&lost);
        Ok(left)
    }

    /// Both operands of an op as counts.
    pub(super) fn counts(&self, op: &Op) -> Result<(usize, usize), RunError> {
        let count = |i: usize| self.cx.program.index(op.operands[i]);
        let counts = count(0).zip(count(1));
        counts.ok_or_else(|| missing(op, "count"))
    }

    /// Clients by their numbers.
    pub(super) fn numbered(&self, op: &Op) -> Result<RtVal, RunError> {
        let (first, count) = self.counts(op)?;
        let within = first..first.saturating_add(count);
        let inside = op.kind == OpKind::Fed(FedOp::Within);
        let all = self.cx.clients();
        let ids: Vec<usize> = match inside {
            // Few of many clients are found without a look at the others.
            true => (within.start..within.end.min(all)).collect(),
            false => (0..all).filter(|k| !within.contains(k)).collect(),
        };
        if ids.is_empty() {
            return Err(RunError::NoClient {
                clients: self.cx.clients(),
                // One beyond the numbers that are left out, or the first that is chosen.
                least: first.saturating_add(if inside { 1 } else { count + 1 }),
                loc: op.loc,
            });
        }
        Ok(RtVal::Cohort(ids.into()))
    }
}
