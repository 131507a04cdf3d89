//! The share of time in which a GPU runs no kernel.
//!
//! Timing a kernel waits for it. So the times come from a process of its own; the time of the rounds
//! is that of the measured run.

use std::time::Duration;

use fedround_exec::device::{KERNEL_TIMING_ENV, kernel_time};
use fedround_exec::{Device, Devices, GraphCapture};

use super::args::OneArgs;
use super::process_of;
use super::report::{Report, rounded};
use crate::error::CliError;
use crate::terminal::tell;

/// Asks a process for [`MARK`]s, in its environment.
const MARKED: &str = "FEDROUND_MARK_ROUNDS";
/// Stands before the timed rounds and after them.
const MARK: &str = "= timed rounds =";

/// The share of a measured run; `None` where kernels are not timed: on the CPU, on GPUs whose kernels
/// cubecl times by the host's clock, in replays, and on several devices, which have no one share.
pub(super) fn of(one: &OneArgs, report: &Report) -> Result<Option<f64>, CliError> {
    let devices = Devices::choose(&one.device)?;
    let alone = devices.more().is_empty() && devices.first() != Device::Cpu;
    if !alone || !devices.first().times_kernels()? {
        return Ok(None);
    }
    let device = devices.first().open()?;
    if one.graphs.parse::<GraphCapture>()?.records_on(&device) {
        return Ok(None);
    }
    let mut environment = KERNEL_TIMING_ENV.to_vec();
    environment.push((MARKED, "1"));
    let said = process_of(one, &environment)?.stderr;
    let said = String::from_utf8_lossy(&said);
    let busy = kernel_time(rounds(&said)).as_secs_f64();
    // Kernels that are waited for one by one may take longer than in a run that has none of it.
    let idle = (1.0 - busy / report.wall_s).max(0.0);
    Ok(Some(rounded(idle, 3)))
}

/// Says where the timed rounds begin and end, in a process of which that is asked.
pub(super) fn mark() {
    if std::env::var_os(MARKED).is_some() {
        // cubecl's log is written by a thread that is not waited for.
        std::thread::sleep(Duration::from_millis(500));
        tell!("{MARK}");
    }
}

/// What was said of the timed rounds.
fn rounds(said: &str) -> &str {
    said.split(MARK).nth(1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timed_rounds_are_between_two_marks() {
        let said = format!("| 9ms | first\n{MARK}\n| 1ms | a\n| 2ms | b\n{MARK}\n| 9ms | test\n");
        assert_eq!(kernel_time(rounds(&said)).as_millis(), 3);
        assert_eq!(rounds("nothing"), "");
    }
}
