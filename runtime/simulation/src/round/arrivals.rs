//! Updates that arrive one by one, or in buffers, on the virtual clock.
//!
//! A client is *in flight* from the round in which it begins, with what the server dispatches then, to the
//! one in which its update arrives. Its code runs when the update arrives, on what it was given when it began:
//! nothing else that it reads changes in between. So the order of arrivals depends on the clock alone.

use fedround_ir::fed::Op;

use super::server::Server;
use crate::context::{kept_or_zeros, missing};
use crate::error::RunError;
use crate::faults::Fate;
use crate::sampling::cohort;
use crate::state::Flight;
use crate::value::batching::leaves;
use crate::value::{Env, RtVal};
use fedround_ir::fed::Value;

impl Server<'_> {
    /// How many rounds were completed: the version of what the server dispatches.
    fn version(&self) -> usize {
        self.cx.round.saturating_sub(1)
    }

    /// Lets clients begin until so many are in flight, and waits for the next updates. Of updates that arrive
    /// at the same time, those that began earlier come first, and then those of lower numbers.
    pub(super) fn arrivals(&mut self, op: &Op) -> Result<RtVal, RunError> {
        let (in_flight, buffer) = self.counts(op)?;
        self.begin(in_flight.max(buffer));
        let state = &mut self.state.in_flight;
        let mut waiting = std::mem::take(&mut state.flights);
        // What nobody was given any more.
        let begun: Vec<usize> = waiting.iter().map(|flight| flight.version).collect();
        state.sent.retain(|(_, version), _| begun.contains(version));
        waiting.sort_by(|a, b| {
            let first = a.arrives.total_cmp(&b.arrives);
            let first = first.then(a.version.cmp(&b.version));
            first.then(a.client.cmp(&b.client))
        });
        state.flights = waiting.split_off(buffer.max(1).min(waiting.len()));
        let before = state.now;
        let Some(last) = waiting.last() else {
            return Err(RunError::TooFew {
                called: in_flight,
                there: 0,
                needed: 1,
            });
        };
        state.now = last.arrives.max(before);
        let waited = state.now - before;
        self.attendance.seconds = self.attendance.seconds.max(waited);
        let ids = waiting.iter().map(|flight| flight.client).collect();
        self.arrived = waiting;
        Ok(RtVal::Cohort(ids))
    }

    /// Draws clients that are not in flight, and calls them; those that fail send nothing.
    fn begin(&mut self, in_flight: usize) {
        let (absent, version) = (self.cx.absent, self.version());
        let flights = &mut self.state.in_flight.flights;
        flights.retain(|flight| !absent.contains(&flight.client));
        let flies = |k: &usize| flights.iter().any(|flight| flight.client == *k);
        let free = (0..self.cx.clients()).filter(|k| !absent.contains(k) && !flies(k));
        let free: Vec<usize> = free.collect();
        let wanted = in_flight.saturating_sub(flights.len()).min(free.len());
        let drawn = cohort(self.cx.seed, self.cx.round, self.draws, free.len(), wanted);
        self.draws += 1;
        let now = self.state.in_flight.now;
        for place in drawn {
            let client = free[place];
            let examples = self.cx.dataset.client_indices[client].len();
            let fate = self.cx.fates.map(|fates| fates.of(client, examples));
            let arrives = match fate {
                Some(Fate::Fails) => {
                    self.attendance.failed.insert(client);
                    continue;
                }
                Some(Fate::Late) => {
                    self.attendance.late.insert(client);
                    continue;
                }
                Some(Fate::Arrives(seconds)) => now + seconds,
                None => now,
            };
            self.state.in_flight.flights.push(Flight {
                client,
                version,
                arrives,
            });
        }
    }

    /// Keeps a value for the clients that began in this round, and gives those that arrive theirs. A value
    /// that was not dispatched when a client began, in another phase, is the present one.
    pub(super) fn dispatch(
        &mut self,
        op: &Op,
        env: &mut Env,
        last: &[Value],
    ) -> Result<RtVal, RunError> {
        let value = env.read(op.operands[0], last);
        let value = value.ok_or_else(|| missing(op, "value on the server"))?;
        let (program, version) = (self.cx.program, self.version());
        let (place, kind) = (
            self.dispatches,
            program.schedule().module.type_of(op.results[0]).kind,
        );
        self.dispatches += 1;
        let mut begun = self.state.in_flight.flights.iter().chain(&self.arrived);
        if begun.any(|flight| flight.version == version) {
            let kept = leaves(&value, program.device()).ok_or_else(|| missing(op, "tensors"))?;
            self.state.in_flight.sent.insert((place, version), kept);
        }
        let given = self.arrived.iter().map(|flight| {
            match self.state.in_flight.sent.get(&(place, flight.version)) {
                Some(kept) => kept_or_zeros(program, op, ("", kind), Some(kept.clone())),
                None => Ok(value.clone()),
            }
        });
        let given = given.collect::<Result<_, _>>()?;
        let ids = self.arrived.iter().map(|flight| flight.client).collect();
        let given = RtVal::Clients(ids, given);
        self.clients.renew(&op.results);
        self.stats.bytes_down += self.wire_bytes(op.results[0], Some(&given));
        Ok(given)
    }

    /// The difference of versions, of each client that arrives.
    pub(super) fn staleness(&self) -> RtVal {
        let version = self.version();
        let rounds = self.arrived.iter();
        let rounds = rounds.map(|flight| RtVal::Host((version - flight.version) as f64));
        let ids = self.arrived.iter().map(|flight| flight.client).collect();
        RtVal::Clients(ids, rounds.collect())
    }
}
