//! The time that passes take.

use std::fmt::Write as _;
use std::time::Duration;

/// The runs of one pass, or of another step of compilation.
#[derive(Clone, Debug)]
pub struct Timing {
    /// The dialect that it works on.
    pub dialect: &'static str,
    /// Its name.
    pub step: &'static str,
    /// How often it ran.
    pub runs: usize,
    /// How many of the runs changed the program; 0 for a step that is not a pass.
    pub changed: usize,
    /// The wall time of all runs, without verification.
    pub wall: Duration,
}

impl Timing {
    pub(super) fn new(dialect: &'static str, step: &'static str) -> Self {
        Self {
            dialect,
            step,
            runs: 0,
            changed: 0,
            wall: Duration::ZERO,
        }
    }
}

/// A table of timings, in milliseconds.
pub fn timing_table(timings: &[Timing]) -> String {
    let mut text = format!(
        "{:<24} {:>5} {:>8} {:>10}\n",
        "pass", "runs", "changed", "ms"
    );
    let total: Duration = timings.iter().map(|timing| timing.wall).sum();
    for timing in timings {
        // Writing to a `String` cannot fail.
        _ = writeln!(
            text,
            "{:<24} {:>5} {:>8} {:>10.3}",
            format!("{} {}", timing.dialect, timing.step),
            timing.runs,
            timing.changed,
            1e3 * timing.wall.as_secs_f64(),
        );
    }
    _ = writeln!(
        text,
        "{:<24} {:>5} {:>8} {:>10.3}",
        "all",
        "",
        "",
        1e3 * total.as_secs_f64()
    );
    text
}
