//! Draws the cohorts of a round, and calls their clients. Some of the called clients may fail or be late.

use std::sync::Arc;

use fedround_exec::program::sample_size;
use fedround_ir::fed::{FedOp, Op, OpKind};

use super::server::Server;
use crate::context::missing;
use crate::error::RunError;
use crate::regions::LostClients;
use crate::sampling::{Pass, cohort, reshuffled, rotating};
use crate::value::{Env, RuntimeValue};

impl Server<'_> {
    /// `fed.sample`: draws a fraction of all clients, or of a cohort. A late client that has joined is always drawn.
    pub(super) fn sample(&mut self, op: &Op, env: &Env) -> Result<RuntimeValue, RunError> {
        // `None` stands for all clients. They are not listed, because there may be millions of which few take part.
        let among = match op.operands.get(1).map(|v| env.peek(*v)) {
            None => None,
            Some(Some(RuntimeValue::Cohort(ids))) => Some(Arc::clone(ids)),
            Some(_) => return Err(missing(op, "cohort")),
        };
        let clients = among.as_ref().map_or(self.cx.clients(), |ids| ids.len());
        let c = self.cx.program.real(op.operands[0]);
        let c = c.ok_or_else(|| missing(op, "fraction known before the round"))?;
        let position = |k| {
            among
                .as_ref()
                .map_or(Some(k), |ids| ids.iter().position(|id| *id == k))
        };
        // The late client's position among the clients drawn from.
        let new = self
            .cx
            .joined_late_client()
            .and_then(|(k, new)| Some((position(k)?, new)));
        let others = clients - usize::from(new.is_some());
        let m = new.map_or_else(
            || sample_size(c, others),
            |(_, new)| new.others_to_draw(others),
        );
        let new = new.map(|(position, _)| position);
        let wanted = m.min(others) + usize::from(new.is_some());
        let m = match self.cx.fates {
            Some(fates) => over_selected(fates.faults.over_select, m),
            None => m,
        };
        let draw = self.counters.cohorts;
        self.counters.cohorts += 1;
        let ids = cohort(self.cx.seed, self.cx.round, draw, others, m).into_iter();
        let ids = ids.map(|i| i + usize::from(new.is_some_and(|new| i >= new)));
        let ids = new.into_iter().chain(ids);
        let ids = ids.map(|i| among.as_ref().map_or(i, |ids| ids[i]));
        let ids: Vec<usize> = ids.collect();
        Ok(RuntimeValue::Cohort(self.call(&ids, wanted)?))
    }

    /// `fed.rotating`: a cohort that replaces a few of the clients of the round before.
    pub(super) fn rotating(&self, op: &Op) -> Result<RuntimeValue, RunError> {
        let (m, dropped) = self.counts(op)?;
        let new = self.cx.joined_late_client();
        let others = self.cx.clients() - usize::from(new.is_some());
        // With the late client, the cohort is not larger than without it: values of the algorithm may have a row for
        // each of `m` clients.
        let m = new.map_or(m, |(_, new)| {
            new.others_to_draw(others).min(m.saturating_sub(1))
        });
        let ids = rotating(self.cx.seed, self.cx.round, others, (m, dropped));
        let new = new.map(|(k, _)| k).into_iter();
        Ok(RuntimeValue::Cohort(new.chain(ids).collect()))
    }

    /// `fed.reshuffled`: the next clients of a random order of all clients.
    pub(super) fn reshuffled(&self, op: &Op) -> Result<RuntimeValue, RunError> {
        if self.cx.late_client.is_some() {
            return Err(RunError::LateInPasses { loc: op.loc });
        }
        let m = self.cx.count(op, 0)?;
        if m == 0 {
            let why = "`reshuffled(0)` has no clients; give it a count above 0";
            return Err(RunError::Empty { why, loc: op.loc });
        }
        let clients = self.cx.clients();
        let pass = Pass::of(self.cx.round, clients, m);
        Ok(RuntimeValue::Cohort(
            reshuffled(self.cx.seed, pass, clients, m).into(),
        ))
    }

    /// Calls clients, and returns those that take part: the `wanted` fastest of those that arrive.
    ///
    /// # Errors
    ///
    /// [`RunError::TooFew`] if fewer than the smallest allowed number arrive. The round is then skipped.
    pub(super) fn call(
        &mut self,
        called: &[usize],
        wanted: usize,
    ) -> Result<Arc<[usize]>, RunError> {
        if called.is_empty() {
            return Err(RunError::nobody());
        }
        // Clients whose updates arrive in this round were called when they began.
        let has_arrived = |k: &usize| self.arrived.iter().any(|flight| flight.client == *k);
        if called.iter().all(has_arrived) {
            return Ok(called.iter().copied().take(wanted).collect());
        }
        let (absent, parts) = (self.cx.absent, &self.cx.dataset.client_indices);
        let present = called.iter().copied().filter(|k| !absent.contains(k));
        let (present, offline): (Vec<usize>, Vec<usize>) =
            present.partition(|&k| self.clients.is_available(k));
        self.attendance.failed.extend(offline);
        let examples = |k: usize| parts[k].len();
        let fates = self.cx.fates;
        let arrived = self.attendance.call(fates, &present, wanted, examples);
        let needed = self.cx.min_clients.max(1).min(wanted);
        if arrived.len() < wanted && arrived.len() < needed {
            return Err(RunError::TooFew {
                called: called.len(),
                responded: arrived.len(),
                needed,
            });
        }
        Ok(arrived.into())
    }

    /// Removes the clients that were lost in a map from the round: their values are dropped, and the round goes on as
    /// with a cohort without them. Returns the clients of the map that are left.
    ///
    /// # Errors
    ///
    /// Too few clients are left; or the server has already used what the lost clients sent, and the round has to be
    /// repeated without them.
    pub(super) fn remove_lost(
        &mut self,
        called: &[usize],
        lost: &LostClients,
        env: &mut Env,
    ) -> Result<Arc<[usize]>, RunError> {
        self.attendance.failed.extend(&lost.failed);
        self.attendance.late.extend(&lost.late);
        let lost = lost.all();
        if self.uploads.used {
            return Err(RunError::Lost {
                clients: lost.iter().copied().collect(),
            });
        }
        let left = called.iter().filter(|k| !lost.contains(k));
        let left: Arc<[usize]> = left.copied().collect();
        let needed = self.cx.min_clients.max(1).min(called.len());
        if left.len() < needed {
            return Err(RunError::TooFew {
                called: called.len(),
                responded: left.len(),
                needed,
            });
        }
        env.drop_clients(&lost);
        Ok(left)
    }

    /// Both operands of an operation, as counts.
    pub(super) fn counts(&self, op: &Op) -> Result<(usize, usize), RunError> {
        Ok((self.cx.count(op, 0)?, self.cx.count(op, 1)?))
    }

    /// `fed.within` and `fed.outside`: the clients whose numbers are within a range, or outside it.
    pub(super) fn cohort_by_number(&self, op: &Op) -> Result<RuntimeValue, RunError> {
        let (first, count) = self.counts(op)?;
        let within = first..first.saturating_add(count);
        let inside = op.kind == OpKind::Fed(FedOp::Within);
        let all = self.cx.clients();
        let ids: Vec<usize> = match inside {
            // Does not visit all clients, of which there may be millions.
            true => (within.start..within.end.min(all)).collect(),
            false => (0..all).filter(|k| !within.contains(k)).collect(),
        };
        if ids.is_empty() {
            return Err(RunError::NoClient {
                clients: self.cx.clients(),
                // With this many clients, the cohort has one: the first of the range, or the first after it.
                least: first.saturating_add(if inside { 1 } else { count.saturating_add(1) }),
                loc: op.loc,
            });
        }
        Ok(RuntimeValue::Cohort(ids.into()))
    }
}

/// `factor` times `m`, rounded up. The product of floats may be a little above a whole number, as that of 1.1 and 50 is.
fn over_selected(factor: f64, m: usize) -> usize {
    (factor * m as f64 - 1e-9).ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::over_selected;

    #[test]
    fn over_selection_is_rounded_up_and_not_by_rounding_errors() {
        for (factor, m, expected) in [(1.1, 50, 55), (1.1, 51, 57), (1.3, 10, 13), (1.0, 7, 7)] {
            assert_eq!(over_selected(factor, m), expected, "{factor} of {m}");
        }
    }
}
