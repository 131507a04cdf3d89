//! Asynchronous rounds: updates arrive one by one, or in buffers, on the virtual clock.
//!
//! A client is *in flight* from the round in which it begins to the round in which its update arrives. Its code
//! runs when the update arrives, on the values that the server dispatched when it began; nothing else that it reads
//! changes in between. The order of arrivals therefore depends only on the virtual clock.

use std::collections::HashSet;

use fedround_ir::fed::Op;

use super::server::Server;
use crate::context::{missing, state_or_zeros};
use crate::error::RunError;
use crate::faults::Fate;
use crate::sampling::cohort;
use crate::state::{Dispatched, Flight};
use crate::value::batching::leaves;
use crate::value::{Env, RuntimeValue};
use fedround_ir::fed::Value;

impl Server<'_> {
    /// The version of the values that the server dispatches: the number of completed rounds.
    fn version(&self) -> usize {
        self.cx.round.saturating_sub(1)
    }

    /// `fed.arrivals`: lets clients begin until the wanted number is in flight, and waits for a buffer of updates.
    /// If updates arrive at the same time, clients that began earlier come first, and then clients with lower
    /// numbers.
    pub(super) fn arrivals(&mut self, op: &Op) -> Result<RuntimeValue, RunError> {
        let (in_flight, buffer) = self.counts(op)?;
        self.begin(in_flight.max(buffer));
        let state = &mut self.state.in_flight;
        let mut waiting = std::mem::take(&mut state.flights);
        // Dispatched values are dropped once no client in flight began with them.
        let begun: Vec<usize> = waiting.iter().map(|flight| flight.version).collect();
        state.sent.retain(|sent, _| begun.contains(&sent.version));
        waiting.sort_by(|a, b| {
            let first = a.arrives.total_cmp(&b.arrives);
            let first = first.then(a.version.cmp(&b.version));
            first.then(a.client.cmp(&b.client))
        });
        state.flights = waiting.split_off(buffer.max(1).min(waiting.len()));
        let start = state.now;
        let Some(last) = waiting.last() else {
            return Err(RunError::TooFew {
                called: in_flight,
                responded: 0,
                needed: 1,
            });
        };
        state.now = last.arrives.max(start);
        let waited = state.now - start;
        self.attendance.seconds = self.attendance.seconds.max(waited);
        let ids = waiting.iter().map(|flight| flight.client).collect();
        self.arrived = waiting;
        Ok(RuntimeValue::Cohort(ids))
    }

    /// Draws clients that are not in flight, and lets them begin. Clients that fail or are late send nothing.
    fn begin(&mut self, in_flight: usize) {
        let (absent, version) = (self.cx.absent, self.version());
        let flights = &mut self.state.in_flight.flights;
        flights.retain(|flight| !absent.contains(&flight.client));
        let flying: HashSet<usize> = flights.iter().map(|flight| flight.client).collect();
        let free = (0..self.cx.clients()).filter(|k| !absent.contains(k) && !flying.contains(k));
        let free: Vec<usize> = free.collect();
        let wanted = in_flight.saturating_sub(flights.len()).min(free.len());
        let drawn = cohort(
            self.cx.seed,
            self.cx.round,
            self.counters.cohorts,
            free.len(),
            wanted,
        );
        self.counters.cohorts += 1;
        let now = self.state.in_flight.now;
        for position in drawn {
            let client = free[position];
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

    /// `fed.dispatch`: stores a value for the clients that began in this round, and returns the values that the
    /// arriving clients began with. A client that began in another phase, whose values are others, gets the present
    /// one.
    pub(super) fn dispatch(
        &mut self,
        op: &Op,
        env: &mut Env,
        last_uses: &[Value],
    ) -> Result<RuntimeValue, RunError> {
        let value = env.read(op.operands[0], last_uses);
        let value = value.ok_or_else(|| missing(op, "value on the server"))?;
        let (program, version) = (self.cx.program, self.version());
        let kind = program.schedule().module.type_of(op.results[0]).kind;
        let (phase, index) = (self.cx.phase, self.counters.dispatches);
        self.counters.dispatches += 1;
        let key = |version| Dispatched {
            phase,
            index,
            version,
        };
        let mut begun = self.state.in_flight.flights.iter().chain(&self.arrived);
        if begun.any(|flight| flight.version == version) {
            let tensors = leaves(&value, program.device());
            let tensors = tensors.ok_or_else(|| missing(op, "tensors"))?;
            self.state.in_flight.sent.insert(key(version), tensors);
        }
        let values = self.arrived.iter().map(|flight| {
            match self.state.in_flight.sent.get(&key(flight.version)) {
                Some(sent) => state_or_zeros(program, op, ("", kind), Some(sent.clone())),
                None => Ok(value.clone()),
            }
        });
        let values = values.collect::<Result<_, _>>()?;
        let ids = self.arrived.iter().map(|flight| flight.client).collect();
        let dispatched = RuntimeValue::Clients(ids, values);
        self.clients.forget_delivered(&op.results);
        self.stats.bytes_down += self.wire_bytes(op.results[0], Some(&dispatched));
        Ok(dispatched)
    }

    /// `fed.staleness`: for each arriving client, how many rounds were completed since it began.
    pub(super) fn staleness(&self) -> RuntimeValue {
        let version = self.version();
        let rounds = self.arrived.iter();
        let rounds = rounds.map(|flight| RuntimeValue::Number((version - flight.version) as f64));
        let ids = self.arrived.iter().map(|flight| flight.client).collect();
        RuntimeValue::Clients(ids, rounds.collect())
    }
}
