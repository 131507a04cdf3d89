//! Counts of captured steps, replays, and steps that ran op by op.

use std::collections::BTreeMap;

/// Counts of recorded steps, of their replays, and of the steps that ran plainly instead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptureStats {
    /// Steps that were recorded and not found wrong.
    pub captured: u64,
    /// Replays: each is one step of a client, or of a group of clients.
    pub replays: u64,
    /// Launches of recordings: fewer than replays where one recording has several steps.
    pub launches: u64,
    /// Steps of loops over batches that ran op by op, by the reason.
    pub plain: BTreeMap<String, u64>,
    /// Why a step that can be recorded runs op by op: the device recorded nothing, or a replay gave
    /// other values than a plain run. Of several such steps, the first one's reason.
    pub refused: Option<String>,
}

impl CaptureStats {
    /// Counts steps that ran op by op.
    pub fn plain(&mut self, why: &str, steps: u64) {
        if steps > 0 {
            *self.plain.entry(why.to_owned()).or_default() += steps;
        }
    }

    /// Counts the launch of a recording of so many steps.
    pub fn launched(&mut self, steps: u64) {
        self.replays += steps;
        self.launches += 1;
    }

    /// Adds other counts.
    pub fn add(&mut self, other: Self) {
        self.captured += other.captured;
        self.replays += other.replays;
        self.launches += other.launches;
        self.refused = self.refused.take().or(other.refused);
        for (why, steps) in other.plain {
            self.plain(&why, steps);
        }
    }
}
