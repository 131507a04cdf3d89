//! Clients in flight in asynchronous rounds, with the values that were dispatched to them.

use std::collections::BTreeMap;

use burn::tensor::DispatchTensor;

/// The clients in flight on the virtual clock.
#[derive(Clone, Default)]
pub(crate) struct InFlight {
    /// The time on the virtual clock, in seconds since the first round.
    pub now: f64,
    /// The clients that have begun and whose updates have not arrived.
    pub flights: Vec<Flight>,
    /// The dispatched values.
    pub sent: BTreeMap<Dispatched, Vec<DispatchTensor>>,
}

impl InFlight {
    /// Ends a round that was skipped, after `version` completed ones. What has arrived in it is used up, and the clock
    /// has moved. Clients that began in it, and that nothing was dispatched to, begin in the next round instead.
    pub fn skip(&mut self, version: usize) {
        if self.sent.keys().any(|sent| sent.version == version) {
            return;
        }
        for flight in &mut self.flights {
            if flight.version == version {
                flight.version += 1;
            }
        }
    }
}

/// Identifies a dispatched value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Dispatched {
    /// The phase of the round that dispatched it.
    pub phase: usize,
    /// Its index among those of a round of the phase.
    pub index: usize,
    /// The number of rounds that were completed before it was dispatched.
    pub version: usize,
}

/// A client in flight.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Flight {
    pub client: usize,
    /// The number of rounds that were completed when the client began.
    pub version: usize,
    /// The time at which its update arrives, in seconds since the first round.
    pub arrives: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds 1 and 2 began with a client each, and round 2 is skipped, after it has dispatched a value or before.
    #[test]
    fn clients_begin_in_the_round_after_one_that_dispatched_nothing() {
        for dispatched in [true, false] {
            let flight = |client, version| Flight {
                client,
                version,
                arrives: 1.5,
            };
            let mut in_flight = InFlight {
                now: 1.0,
                flights: vec![flight(4, 0), flight(2, 1)],
                sent: BTreeMap::new(),
            };
            for version in 0..=usize::from(dispatched) {
                let (phase, index) = (0, 0);
                let key = Dispatched {
                    phase,
                    index,
                    version,
                };
                in_flight.sent.insert(key, vec![]);
            }
            in_flight.skip(1);
            let second = if dispatched { 1 } else { 2 };
            assert_eq!(in_flight.flights, [flight(4, 0), flight(2, second)]);
        }
    }
}
