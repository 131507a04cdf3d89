//! The waiting time before a failed call is tried again.

use std::time::{Duration, Instant};

/// Waits that double from one try to the next, until a time is over.
#[derive(Debug)]
pub(crate) struct Backoff {
    start: Instant,
    patience: Duration,
    next: Duration,
    longest: Duration,
}

impl Backoff {
    /// Waits of `first` to `longest`, until `patience` after now.
    pub(crate) fn new(first: Duration, longest: Duration, patience: Duration) -> Self {
        Self {
            start: Instant::now(),
            patience,
            next: first,
            longest,
        }
    }

    /// How long this goes on already.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// The wait before the next try, or nothing if the time is over.
    pub(crate) fn next_wait(&mut self) -> Option<Duration> {
        let left = self.patience.checked_sub(self.start.elapsed())?;
        if left.is_zero() {
            return None;
        }
        let wait = self.next.min(left);
        self.next = (self.next * 2).min(self.longest);
        Some(wait)
    }

    /// Waits; `false` if the time is over.
    pub(crate) fn wait(&mut self) -> bool {
        let wait = self.next_wait();
        wait.map(std::thread::sleep).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_end() {
        let millis = Duration::from_millis;
        let mut backoff = Backoff::new(millis(10), millis(30), Duration::from_secs(60));
        let waits: Vec<_> = (0..4).map_while(|_| backoff.next_wait()).collect();
        assert_eq!(waits, [10, 20, 30, 30].map(millis));
        let mut over = Backoff::new(millis(10), millis(30), Duration::ZERO);
        assert_eq!(over.next_wait(), None);
    }
}
