//! Puts the hosts' replies into the order of the cohort.

use std::collections::{BTreeMap, BTreeSet};

use crate::client::Outcome;
use crate::error::RunError;
use crate::regions::{Job, Take};

/// Gives outcomes on in the order of the cohort, so that sums do not depend on who replies first.
pub(super) struct InOrder<'j, 't> {
    job: &'j Job<'j>,
    take: Take<'t>,
    ready: BTreeMap<usize, Outcome>,
    /// The place of the client whose turn it is.
    next: usize,
    failed: Option<RunError>,
}

impl<'j, 't> InOrder<'j, 't> {
    pub fn new(job: &'j Job<'j>, take: Take<'t>) -> Self {
        Self {
            job,
            take,
            ready: BTreeMap::new(),
            next: 0,
            failed: None,
        }
    }

    pub fn add(&mut self, places: &[usize], outcomes: Vec<Outcome>) {
        self.ready.extend(places.iter().copied().zip(outcomes));
    }

    /// Gives on those whose turn has come.
    pub fn advance(&mut self, lost: &BTreeSet<usize>) {
        while let Some(client) = self.job.ids.get(self.next) {
            if let Some(outcome) = self.ready.remove(&self.next) {
                let taken = (self.take)(self.next, outcome);
                self.failed = self.failed.take().or(taken.err());
            } else if !lost.contains(client) {
                break;
            }
            self.next += 1;
        }
    }

    /// The first error of who takes them.
    pub fn finish(self) -> Result<(), RunError> {
        self.failed.map_or(Ok(()), Err)
    }
}
