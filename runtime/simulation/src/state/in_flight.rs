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
    /// The dispatched values, by their index among those of a round and by the version at which they were dispatched.
    pub sent: BTreeMap<(usize, usize), Vec<DispatchTensor>>,
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
