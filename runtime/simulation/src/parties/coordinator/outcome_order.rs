//! Puts the outcomes of the hosts' replies into the order of the cohort.

use std::collections::{BTreeMap, BTreeSet};

use crate::client::ClientOutcome;
use crate::error::RunError;
use crate::regions::{MapJob, OutcomeSink};

/// Passes outcomes to a sink in the order of the cohort, so that sums do not depend on which host replies first.
pub(super) struct OutcomeOrder<'j, 't> {
    job: &'j MapJob<'j>,
    sink: OutcomeSink<'t>,
    /// Outcomes that wait for those of earlier clients, by position in the cohort.
    ready: BTreeMap<usize, ClientOutcome>,
    /// The position of the client whose outcome is passed next.
    next: usize,
    /// The first error of the sink.
    first_error: Option<RunError>,
}

impl<'j, 't> OutcomeOrder<'j, 't> {
    pub fn new(job: &'j MapJob<'j>, sink: OutcomeSink<'t>) -> Self {
        Self {
            job,
            sink,
            ready: BTreeMap::new(),
            next: 0,
            first_error: None,
        }
    }

    /// Adds the outcomes of the clients at these positions of the cohort.
    pub fn add(&mut self, positions: &[usize], outcomes: Vec<ClientOutcome>) {
        self.ready.extend(positions.iter().copied().zip(outcomes));
    }

    /// Passes the outcomes that wait for no earlier client. Lost clients have no outcome.
    pub fn advance(&mut self, lost: &BTreeSet<usize>) {
        while let Some(client) = self.job.ids.get(self.next) {
            if let Some(outcome) = self.ready.remove(&self.next) {
                let added = (self.sink)(self.next, outcome);
                self.first_error = self.first_error.take().or(added.err());
            } else if !lost.contains(client) {
                break;
            }
            self.next += 1;
        }
    }

    /// The first error of the sink.
    pub fn finish(self) -> Result<(), RunError> {
        self.first_error.map_or(Ok(()), Err)
    }
}
