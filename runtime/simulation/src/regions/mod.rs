//! Runs the client code of a map for each client of a cohort, wherever the clients are.
//!
//! The server's interpreter knows only the trait [`ClientRunner`]. [`InProcessRunner`] runs clients on the worker
//! threads of this process; [`Coordinator`](crate::parties::Coordinator) sends requests to parties.

pub(crate) mod client_groups;
mod in_process;

use std::collections::BTreeSet;

use fedround_ir::fed::{Op, Value};
use fedround_passes::schedule::Block;

use crate::client::ClientOutcome;
use crate::context::RoundContext;
use crate::error::RunError;
use crate::state::PerClientStates;
use crate::value::RuntimeValue;

pub(crate) use in_process::InProcessRunner;

/// A map, and the clients for which it is to run.
pub(crate) struct MapJob<'a> {
    /// The context of the main device.
    pub cx: RoundContext<'a>,
    /// The number of the map within the round, from 0. Random streams depend on it.
    pub map: usize,
    /// The operation `fed.map`.
    pub op: &'a Op,
    /// The code of the map.
    pub body: &'a Block,
    /// The clients' numbers, in the order of the cohort. A visit may list a client several times.
    pub ids: &'a [usize],
    /// For each entry of `ids`, how often the same client appears earlier in it: 0, unless the map is a visit.
    pub turns: &'a [usize],
    /// The map's operands, which have a value for each client.
    pub operands: &'a [&'a RuntimeValue],
    /// Values of the server that the code reads. Empty unless the map runs on the server.
    pub server_values: &'a [(Value, RuntimeValue)],
    /// The states that the code reads: those that clients keep, or those that the server keeps for them.
    pub states: &'a PerClientStates,
}

/// Is given a client's outcome, and the client's position in the cohort.
pub(crate) type OutcomeSink<'t> = &'t mut dyn FnMut(usize, ClientOutcome) -> Result<(), RunError>;

/// Clients without an outcome, because their parties failed.
#[derive(Clone, Debug, Default)]
pub(crate) struct LostClients {
    /// Clients of parties that are offline or failed.
    pub failed: BTreeSet<usize>,
    /// Clients of parties that did not reply before the deadline.
    pub late: BTreeSet<usize>,
}

impl LostClients {
    /// Failed and late clients.
    pub fn all(&self) -> BTreeSet<usize> {
        self.failed.union(&self.late).copied().collect()
    }

    pub fn is_empty(&self) -> bool {
        self.failed.is_empty() && self.late.is_empty()
    }
}

/// Runs maps over clients, in this process or at parties.
pub(crate) trait ClientRunner {
    /// Runs a map, and gives each client's outcome to `sink`, in an order that does not depend on timing.
    /// Returns the clients that were lost, which have no outcome.
    ///
    /// # Errors
    ///
    /// The first error of a client or of `sink`.
    fn run(&mut self, job: &MapJob<'_>, sink: OutcomeSink<'_>) -> Result<LostClients, RunError>;

    /// Whether a client can take part in the round.
    fn is_available(&self, _client: usize) -> bool {
        true
    }

    /// Forgets that these values were delivered to clients: the server is about to send new ones.
    fn forget_delivered(&mut self, _values: &[Value]) {}
}
