//! What became of the steps that were to be replayed, as it stands in `summary.json`.

use std::collections::BTreeMap;

use fedround_exec::CaptureStats;
use serde::Serialize;

/// Recorded steps, their replays, and the steps that ran op by op, by the reason. A step of a group
/// of clients counts once.
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
