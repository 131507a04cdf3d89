//! Failures of clients over all rounds of a run.

use fedround::experiment::{Report, Round};
use serde::Serialize;

use crate::settings::Settings;

/// Over all rounds.
#[derive(Debug, Serialize)]
pub(crate) struct FaultCounts {
    /// Clients that failed, each once for each round.
    pub failed: usize,
    pub late: usize,
    pub surplus: usize,
    /// Rounds in which too few clients were there.
    pub skipped_rounds: usize,
}

impl FaultCounts {
    pub fn of(settings: &Settings, report: &Report) -> Option<Self> {
        let count = |of: fn(&Round) -> usize| report.history.iter().map(of).sum::<usize>();
        let counts = Self {
            failed: count(|round| round.failed.len()),
            late: count(|round| round.late.len()),
            surplus: count(|round| round.surplus.len()),
            skipped_rounds: report.skipped(),
        };
        // Parties fail without settings that say so.
        let any = counts.failed + counts.late > 0;
        (any || !settings.run.faults.is_none()).then_some(counts)
    }
}
