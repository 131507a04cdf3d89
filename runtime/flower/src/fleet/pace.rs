//! The intervals at which a party asks the SuperLink for requests.

use std::time::{Duration, Instant};

/// Polls wait at least and at most this long.
const WAIT: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));
/// The part of the time without messages that a poll waits.
const PART: u32 = 8;

/// Waits between polls, which grow with the time since the last message, and with that between the last
/// two requests: those of short rounds follow each other at once, and those of rounds that take minutes
/// may wait a second longer. Each poll costs the SuperLink as much as an object.
#[derive(Debug)]
pub(super) struct Pace {
    last_request: Instant,
    /// A request that came, or a reply that left.
    last_message: Instant,
    /// Between the last two requests.
    gap: Duration,
    next_poll: Instant,
}

impl Pace {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self {
            last_request: now,
            last_message: now,
            gap: Duration::ZERO,
            next_poll: now,
        }
    }

    /// A request came.
    pub(super) fn request(&mut self) {
        self.gap = self.last_request.elapsed();
        self.last_request = Instant::now();
        self.message();
    }

    /// A request came, or a reply left.
    pub(super) fn message(&mut self) {
        self.last_message = Instant::now();
        self.polled();
    }

    /// The SuperLink was asked.
    pub(super) fn polled(&mut self) {
        let idle = self.last_message.elapsed().max(self.gap);
        self.next_poll = Instant::now() + wait_after(idle);
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
