//! Time as Flower writes it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::wire::message::Metadata;

/// Seconds since 1970.
pub(crate) fn unix_seconds() -> f64 {
    since_1970().as_secs_f64()
}

/// Whole seconds since 1970.
pub(crate) fn unix_whole_seconds() -> u64 {
    since_1970().as_secs()
}

/// This moment in ISO 8601, with microseconds and the offset of UTC.
pub(crate) fn timestamp() -> String {
    let now = since_1970();
    iso_8601(now.as_secs(), now.subsec_micros())
}

/// How long the answer to a message, or a message that is an answer, is still wanted, by this machine's
/// clock.
pub(crate) fn time_left(message: &Metadata) -> Duration {
    let left = (message.created_at + message.ttl - unix_seconds()).clamp(0.0, 1e9);
    Duration::from_secs_f64(if left.is_nan() { 0.0 } else { left })
}

fn since_1970() -> Duration {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default()
}

/// The date by Howard Hinnant's `civil_from_days`, for years after 1970.
fn iso_8601(seconds: u64, micros: u32) -> String {
    let (days, time) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Counted from March.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (time / 3_600, time / 60 % 60, time % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}+00:00")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_calendar() {
        let cases = [
            (0, "1970-01-01T00:00:00.000007+00:00"),
            (951_782_400, "2000-02-29T00:00:00.000007+00:00"),
            (1_793_664_000, "2026-11-03T00:00:00.000007+00:00"),
            (4_107_542_399, "2100-02-28T23:59:59.000007+00:00"),
            (4_107_542_400, "2100-03-01T00:00:00.000007+00:00"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(iso_8601(seconds, 7), expected);
        }
    }
}
