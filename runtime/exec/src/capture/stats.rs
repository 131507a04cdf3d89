//! Counts of captured steps, replays, and steps that ran op by op.

use std::collections::BTreeMap;

/// Counts of captured steps, of their replays, and of the steps that ran plainly instead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptureStats {
    /// The number of captured steps, without those whose replay gave other values than a plain run.
    pub captured: u64,
    /// The captured steps of which a replay gave other values than a plain run. The counts of a loop may have
    /// one that was captured, and counted, in an earlier loop; [`add`](Self::add) takes them off `captured`.
    pub(super) withdrawn: u64,
    /// The number of replayed steps. Each is one step of a client, or of a group of clients.
    pub replays: u64,
    /// The number of graph launches. It is smaller than `replays` if one graph has several steps.
    pub launches: u64,
    /// The number of steps of loops over batches that ran op by op, for each reason.
    pub plain: BTreeMap<String, u64>,
    /// The reason why a step that can be captured runs op by op: the device did not capture it, or a replay
    /// gave other values than a plain run. If there are several such steps, this is the first one's reason.
    pub refused: Option<String>,
}

impl CaptureStats {
    /// Counts steps that ran op by op, under the reason `why`.
    pub fn count_plain(&mut self, why: &str, steps: u64) {
        if steps > 0 {
            *self.plain.entry(why.to_owned()).or_default() += steps;
        }
    }

    /// Counts one launch of a graph of `steps` steps.
    pub fn count_launch(&mut self, steps: u64) {
        self.replays += steps;
        self.launches += 1;
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: Self) {
        self.captured = (self.captured + other.captured).saturating_sub(other.withdrawn);
        self.replays += other.replays;
        self.launches += other.launches;
        self.refused = self.refused.take().or(other.refused);
        for (why, steps) in other.plain {
            self.count_plain(&why, steps);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_proves_wrong_in_a_later_loop_is_not_counted() {
        let (captured, withdrawn) = (
            CaptureStats {
                captured: 1,
                ..CaptureStats::default()
            },
            CaptureStats {
                withdrawn: 1,
                ..CaptureStats::default()
            },
        );
        let mut total = CaptureStats::default();
        // Two steps are captured; then one of them differs from its plain run.
        for loop_counts in [captured.clone(), captured, withdrawn] {
            total.add(loop_counts);
        }
        assert_eq!((total.captured, total.withdrawn), (1, 0));
        // And one that differs in the loop that captured it.
        total.add(CaptureStats {
            captured: 1,
            withdrawn: 1,
            ..CaptureStats::default()
        });
        assert_eq!(total.captured, 1);
    }
}
