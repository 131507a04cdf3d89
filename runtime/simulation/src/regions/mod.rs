//! The seam between the server's program and the clients: runs the code of a map for each client of a
//! cohort, wherever the clients are.
//!
//! The server's interpreter knows [`RunRegion`] alone. [`InProcess`] runs clients on the worker threads of
//! this process; [`Remote`](crate::parties::Remote) asks parties.

pub(crate) mod client_groups;
mod in_process;
mod state_names;

use std::collections::BTreeSet;

use fedround_ir::fed::{Op, Value};
use fedround_passes::schedule::Block;

use crate::client::Outcome;
use crate::context::RoundContext;
use crate::error::RunError;
use crate::state::ByClient;
use crate::value::RtVal;

pub(crate) use in_process::InProcess;

/// A map that is to be run for some clients.
pub(crate) struct Job<'a> {
    /// Where the server's work is done.
    pub cx: RoundContext<'a>,
    /// The number of the map among those of the round.
    pub map: usize,
    pub op: &'a Op,
    pub body: &'a Block,
    /// The clients, in the order of the cohort.
    pub ids: &'a [usize],
    /// How often each of them stands earlier in the list.
    pub turns: &'a [usize],
    /// What the map reads of each client.
    pub operands: &'a [&'a RtVal],
    /// Values of the server that the code reads; none in code of clients.
    pub around: &'a [(Value, RtVal)],
    /// The clients' states.
    pub kept: &'a ByClient,
}

/// Takes a client's outcome; the client is named by its place in the cohort.
pub(crate) type Take<'t> = &'t mut dyn FnMut(usize, Outcome) -> Result<(), RunError>;

/// Clients of whom a map has no outcome.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lost {
    /// Those of parties that are offline or failed.
    pub failed: BTreeSet<usize>,
    /// Those of parties that did not reply in time.
    pub late: BTreeSet<usize>,
}

impl Lost {
    /// All of them.
    pub fn all(&self) -> BTreeSet<usize> {
        self.failed.union(&self.late).copied().collect()
    }

    pub fn is_empty(&self) -> bool {
        self.failed.is_empty() && self.late.is_empty()
    }
}

/// Runs maps over clients.
pub(crate) trait RunRegion {
    /// Runs a map, and gives each client's outcome to `take` in an order that does not depend on timing.
    /// Returns the clients that were lost, of whom there is no outcome.
    ///
    /// # Errors
    ///
    /// The first error of a client or of `take`.
    fn run(&mut self, job: &Job<'_>, take: Take<'_>) -> Result<Lost, RunError>;

    /// Whether a client can take part in the round.
    fn is_there(&self, _client: usize) -> bool {
        true
    }

    /// These values are about to be sent to clients, who may have earlier ones.
    fn renew(&mut self, _values: &[Value]) {}
}
