//! What the summary counts over all rounds: replays of steps, and failures of clients.

use std::collections::BTreeMap;

use fedround::experiment::{Report, Round};
use fedround_exec::CaptureStats;
use serde::Serialize;

use crate::settings::Settings;

/// What became of the steps that were to be replayed: recorded steps, their replays, and the steps that ran op by op, by
/// the reason. A step of a group of clients counts once.
#[derive(Debug, Serialize)]
pub(crate) struct CaptureSummary {
    pub captured: u64,
    pub replays: u64,
    pub launches: u64,
    pub plain: BTreeMap<String, u64>,
    /// Why a step that can be recorded is not replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl From<CaptureStats> for CaptureSummary {
    fn from(stats: CaptureStats) -> Self {
        Self {
            captured: stats.captured,
            replays: stats.replays,
            launches: stats.launches,
            plain: stats.plain,
            refused: stats.refused,
        }
    }
}

/// Failures of clients over all rounds.
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
