//! Decides which versions of a client's state are still needed, and may not be overwritten.

use super::KEPT_CHECKPOINTS;

/// The rounds of the checkpoints that a store can go back to, ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Checkpoints(pub Vec<(u64, [u8; 32])>);

impl Checkpoints {
    /// Adds a checkpoint, or replaces the last one if it is of the same round; forgets the oldest if
    /// there are too many.
    pub fn add(&mut self, round: u64, history: [u8; 32]) {
        self.0.retain(|(known, _)| *known != round);
        self.0.push((round, history));
        let surplus = self.0.len().saturating_sub(KEPT_CHECKPOINTS);
        self.0.drain(..surplus);
    }

    /// The last one's round.
    pub fn last(&self) -> Option<u64> {
        self.0.last().map(|(round, _)| *round)
    }

    /// Splits versions, ascending, into those that are needed (the newest of all, and the newest at
    /// each checkpoint) and the others.
    pub fn needed(&self, versions: &[u64]) -> (Vec<u64>, Vec<u64>) {
        let newest = |until: u64| versions.iter().rev().find(|v| **v <= until);
        let ends = self.0.iter().map(|(round, _)| *round).chain([u64::MAX]);
        let needed: Vec<Option<&u64>> = ends.map(newest).collect();
        versions.iter().partition(|v| needed.contains(&Some(v)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(rounds: &[u64]) -> Checkpoints {
        let mut all = Checkpoints::default();
        rounds.iter().for_each(|&round| all.add(round, [0; 32]));
        all
    }

    #[test]
    fn the_newest_version_at_each_checkpoint_is_needed() {
        let needed = |rounds: &[u64], versions: &[u64]| at(rounds).needed(versions).0;
        assert_eq!(needed(&[], &[1, 2, 3]), [3]);
        assert_eq!(needed(&[2], &[1, 2, 3]), [2, 3]);
        assert_eq!(needed(&[2, 4], &[1, 3, 5, 6]), [1, 3, 6]);
        assert_eq!(needed(&[2, 4], &[5, 6]), [6]);
        assert_eq!(needed(&[2, 4], &[1]), [1]);
        assert_eq!(needed(&[2, 4, 6], &[1, 2, 3, 6, 7]), [3, 6, 7]);
    }

    #[test]
    fn the_last_checkpoints_are_kept() {
        let rounds = |all: Checkpoints| all.0.iter().map(|(r, _)| *r).collect::<Vec<_>>();
        assert_eq!(rounds(at(&[3, 5, 9])), [5, 9]);
        assert_eq!(rounds(at(&[3, 5, 5])), [3, 5]);
    }
}
