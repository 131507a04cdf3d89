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
    /// has moved. Clients that began in it begin in the next round instead, which dispatches all of their values.
    pub fn skip(&mut self, version: usize) {
        self.sent.retain(|sent, _| sent.version != version);
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

    /// Rounds 1 and 2 began with a client each, and round 2 is skipped after it has dispatched a value.
    #[test]
    fn clients_of_a_skipped_round_begin_in_the_next() {
        let flight = |client, version| Flight {
            client,
            version,
            arrives: 1.5,
        };
        let sent = |version| Dispatched {
            phase: 0,
            index: 0,
            version,
        };
        let mut in_flight = InFlight {
            now: 1.0,
            flights: vec![flight(4, 0), flight(2, 1)],
            sent: [(sent(0), vec![]), (sent(1), vec![])].into(),
        };
        in_flight.skip(1);
        assert_eq!(in_flight.flights, [flight(4, 0), flight(2, 2)]);
        assert!(in_flight.sent.into_keys().eq([sent(0)]));
    }
}
