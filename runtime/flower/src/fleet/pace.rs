//! How often a party asks the SuperLink for requests.

use std::time::{Duration, Instant};

/// Polls wait at least and at most this long.
const WAIT: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));
/// The part of the time since the last request that a poll waits.
const PART: u32 = 8;

/// Waits between polls, which grow with the time since the last request or reply: requests of a round
/// follow each other at once, and those of rounds that take minutes may wait a second longer.
#[derive(Debug)]
pub(super) struct Pace {
    last_message: Instant,
    next_poll: Instant,
}

impl Pace {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self {
            last_message: now,
            next_poll: now,
        }
    }

    /// A request came, or a reply left.
    pub(super) fn message(&mut self) {
        self.last_message = Instant::now();
        self.polled();
    }

    /// There was no request.
    pub(super) fn polled(&mut self) {
        self.next_poll = Instant::now() + wait_after(self.last_message.elapsed());
    }

    /// How long to wait before the next poll.
    pub(super) fn wait(&self) -> Duration {
        self.next_poll.saturating_duration_since(Instant::now())
    }
}

fn wait_after(idle: Duration) -> Duration {
    (idle / PART).clamp(WAIT.0, WAIT.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_with_the_time_without_requests() {
        let waits = [0, 800, 4_000, 60_000].map(|idle| wait_after(Duration::from_millis(idle)));
        assert_eq!(waits, [100, 100, 500, 2_000].map(Duration::from_millis));
    }
}
