//! The attempts that were committed, by which hosts know which states to keep.

use super::super::message::Committed;
use super::super::transport::HostId;
use super::Coordinator;

impl Coordinator {
    /// Commits the present attempt. Its hosts are told with their next request.
    pub fn commit(&mut self) {
        let committed = Committed {
            attempt: self.attempt,
            without: self.lost.iter().copied().collect(),
        };
        let replied = std::mem::take(&mut self.replied).into_iter();
        self.committed
            .extend(replied.map(|host| (host, committed.clone())));
    }

    /// The last committed attempt of each host. A checkpoint needs it.
    pub fn committed(&self) -> Vec<(u64, Committed)> {
        let committed = self.committed.iter();
        committed
            .map(|(host, attempt)| (host.0, attempt.clone()))
            .collect()
    }

    /// Restores the committed attempts of a checkpoint. The session becomes larger than theirs, even if the clock that
    /// gave it has gone back.
    pub fn restore(&mut self, committed: Vec<(u64, Committed)>) {
        let sessions = committed.iter().map(|(_, last)| last.attempt.session);
        let next = sessions.max().map_or(0, |last| last.saturating_add(1));
        self.attempt.session = self.attempt.session.max(next);
        let committed = committed.into_iter();
        self.committed = committed
            .map(|(host, attempt)| (HostId(host), attempt))
            .collect();
    }
}
