//! Time, memory and processor cores of this process, as the operating system knows them.

/// Seconds since the process began, loading included; `None` where the system does not say.
#[cfg(target_os = "linux")]
pub(super) fn since_start() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The command's name, in parentheses, may hold anything. Field 22 is the 20th after it.
    let ticks: f64 = stat
        .rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(19)?
        .parse()
        .ok()?;
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let now = now.tv_sec as f64 + now.tv_nsec as f64 / 1e9;
    Some(now - ticks / rustix::param::clock_ticks_per_second() as f64)
}

/// Seconds since the process began; `None` where the system does not say.
#[cfg(not(target_os = "linux"))]
pub(super) fn since_start() -> Option<f64> {
    None
}

/// The most memory that was resident, in MiB; `None` where the system does not say.
pub(super) fn peak_rss_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024.0)
}

/// Pins the process to the first `threads` of its cores, as the peers do. Threads inherit it, so
/// it comes first. Where it is refused, the run is not pinned, which its numbers will show.
#[cfg(target_os = "linux")]
pub(super) fn pin(threads: usize) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    let Ok(allowed) = sched_getaffinity(None) else {
        return;
    };
    let mut cores = CpuSet::new();
    let first = (0..CpuSet::MAX_CPU)
        .filter(|core| allowed.is_set(*core))
        .take(threads.max(1));
    first.for_each(|core| cores.set(core));
    let _ = sched_setaffinity(None, &cores);
}

/// Pins the process to cores, where the system can.
#[cfg(not(target_os = "linux"))]
pub(super) fn pin(_threads: usize) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_system_says() {
        let age = since_start().unwrap();
        assert!((0.0..3600.0).contains(&age), "{age}");
        assert!(peak_rss_mb().unwrap() > 1.0);
    }
}
