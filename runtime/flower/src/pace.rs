//! The intervals at which the SuperLink is asked whether something has come.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The part of the time since the start that a poll waits.
const PART: u32 = 8;
/// The number of waits that are remembered: rounds of several requests, and those with evaluations, repeat after a few.
const REMEMBERED: usize = 3;
/// Before this fraction of the shortest remembered wait there is no poll.
const QUIET: f64 = 0.85;
/// Until this fraction of it, polls are frequent.
const EXPECTED: f64 = 1.3;
/// The number of frequent polls in the length of the shortest remembered wait.
const POLLS: u32 = 32;
/// A SuperLink that takes time for an answer is busy. After a poll, there is none for this many times as long as the
/// answer took.
const REST: u32 = 4;

/// Times of polls for something that comes again and again, such as the requests of rounds: each poll costs
/// the SuperLink as much as an object. They are seldom before it is expected and often then, and afterwards
/// follow each other less and less often. What comes after another time than before is late by an eighth, or
/// by the longest wait.
#[derive(Debug)]
pub(crate) struct Pace {
    shortest: Duration,
    longest: Duration,
    start: Instant,
    /// Whether it has come since.
    came: bool,
    /// How long it took the last times.
    waits: VecDeque<Duration>,
    /// How long the SuperLink took to answer the last time.
    answer: Duration,
    next: Instant,
}

impl Pace {
    /// Polls that wait at least and at most so long.
    pub(crate) fn new(shortest: Duration, longest: Duration) -> Self {
        let now = Instant::now();
        Self {
            shortest,
            longest,
            start: now,
            came: false,
            waits: VecDeque::new(),
            answer: Duration::ZERO,
            next: now,
        }
    }

    /// It is waited for from now on.
    pub(crate) fn start(&mut self) {
        (self.start, self.came) = (Instant::now(), false);
        self.asked();
    }

    /// It has come. Only the first time since the start counts.
    pub(crate) fn came(&mut self) {
        if std::mem::replace(&mut self.came, true) {
            return;
        }
        self.waits.push_back(self.start.elapsed());
        if self.waits.len() > REMEMBERED {
            self.waits.pop_front();
        }
    }

    /// The SuperLink was asked, or there is a reason to ask it only after the next wait.
    pub(crate) fn asked(&mut self) {
        self.next = Instant::now() + self.wait_after(self.start.elapsed());
    }

    /// The SuperLink took so long to say whether it has come.
    pub(crate) fn took(&mut self, answer: Duration) {
        self.answer = answer;
    }

    /// Sleeps until the next poll. Returns `false` if `left` ends before, after sleeping until then.
    pub(crate) fn sleep(&self, left: Duration) -> bool {
        let wait = self.next.saturating_duration_since(Instant::now());
        std::thread::sleep(wait.min(left));
        wait <= left
    }

    fn wait_after(&self, elapsed: Duration) -> Duration {
        let expected = self.waits.iter().min().copied().unwrap_or_default();
        let quiet = expected.mul_f64(QUIET).saturating_sub(elapsed);
        let wait = match elapsed < expected.mul_f64(EXPECTED) {
            true => quiet.max(expected / POLLS),
            false => elapsed / PART,
        };
        let rest = self.answer * REST;
        wait.max(rest).clamp(self.shortest, self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn waits_grow_with_the_time_that_has_passed() {
        let pace = Pace::new(millis(100), millis(2_000));
        let waits = [0, 800, 4_000, 60_000].map(|elapsed| pace.wait_after(millis(elapsed)));
        assert_eq!(waits, [100, 100, 500, 2_000].map(millis));
    }

    #[test]
    fn nothing_is_asked_before_it_is_expected() {
        let mut pace = Pace::new(millis(100), millis(2_000));
        pace.waits
            .extend([millis(3_000), millis(1_000), millis(2_000)]);
        let waits = [0, 250, 800, 1_280, 1_600].map(|elapsed| pace.wait_after(millis(elapsed)));
        assert_eq!(waits, [850, 600, 100, 100, 200].map(millis));
        // Not so often if the SuperLink is busy.
        pace.took(millis(50));
        assert_eq!(pace.wait_after(millis(1_000)), millis(200));
        pace.took(Duration::ZERO);
        // It is asked for often when it is expected, and now and then before.
        pace.waits = [millis(16_000)].into();
        let waits = [0, 14_000, 20_000, 24_000].map(|elapsed| pace.wait_after(millis(elapsed)));
        assert_eq!(waits, [2_000, 500, 500, 2_000].map(millis));
    }

    #[test]
    fn the_last_waits_are_remembered() {
        let mut pace = Pace::new(millis(1), millis(2_000));
        for _ in 0..5 {
            pace.start();
            pace.came();
            pace.came();
        }
        assert_eq!(pace.waits.len(), REMEMBERED);
    }
}
