//! Reads the times of GPU kernels from cubecl's log.

use std::time::Duration;

/// Environment variables that make cubecl time every kernel of a process, and write the times to the standard
/// error stream.
pub const KERNEL_TIMING_ENV: [(&str, &str); 2] = [
    ("CUBECL_DEBUG_OPTION", "profile"),
    ("CUBECL_DEBUG_LOG", "stderr"),
];

/// The total time of all kernels in a log that was written with [`KERNEL_TIMING_ENV`].
pub fn kernel_time(log: &str) -> Duration {
    log.lines().filter_map(duration).sum()
}

/// The duration in a log line about one kernel, such as `| 1.5ms | name`. Lines of the summary begin with a
/// name, and give `None`.
fn duration(line: &str) -> Option<Duration> {
    let (time, _name) = line.strip_prefix("| ")?.split_once(" | ")?;
    let time = time.trim();
    let units = [("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let seconds = units.iter().find_map(|(unit, scale)| {
        let number: f64 = time.strip_suffix(unit)?.parse().ok()?;
        Some(number * scale)
    });
    Duration::try_from_secs_f64(seconds?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_about_a_kernel_are_told_from_others() {
        let of = |line: &str| duration(line).map(|time| time.as_nanos());
        assert_eq!(of("| 1.5ms     | Matmul | WgpuRuntime"), Some(1_500_000));
        assert_eq!(of("| 12.25µs   | fuse::elementwise"), Some(12_250));
        assert_eq!(of("| 820ns     | fill"), Some(820));
        assert_eq!(of("| 2s        | slow"), Some(2_000_000_000));
        for line in [
            "",
            "Executing matmul",
            "| Name | Num Computed | Duration | Ratio |",
            "| matmul | 3 | 4.5ms | 10 % |",
            "| 3 | rows",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
        let both = kernel_time("| 1ms | a\nwarning: b\n| 2ms | c\n");
        assert_eq!(both, Duration::from_millis(3));
    }
}
