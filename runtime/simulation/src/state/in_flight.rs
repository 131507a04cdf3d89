//! Clients that train over several rounds, with the values that they were given.

use std::collections::BTreeMap;

use burn::tensor::DispatchTensor;

/// The clients in flight on the virtual clock.
#[derive(Clone, Default)]
pub(crate) struct InFlight {
    /// Seconds since the first round.
    pub now: f64,
    pub flights: Vec<Flight>,
    /// What was dispatched, by its place among the values of a round and by the version.
    pub sent: BTreeMap<(usize, usize), Vec<DispatchTensor>>,
}

/// A client in flight.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Flight {
    pub client: usize,
    /// How many rounds were completed when it began.
    pub version: usize,
    /// When its update arrives, in seconds since the first round.
    pub arrives: f64,
}
