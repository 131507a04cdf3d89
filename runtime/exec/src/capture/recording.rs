//! Captures a step or a step block, and compares its replays with plain runs.

use burn_dispatch::DispatchDevice;

use super::buffer::lost_buffer;
use super::graph::{Graph, reason};
use super::step::{CapturedStep, ReplayUnit};
use super::validate::find_difference;
use crate::device::ExecError;
use crate::tensor::read;

/// The number of times that a capture is attempted.
const ATTEMPTS: usize = 3;

impl CapturedStep {
    /// Captures the steps of `unit`. The inner result is the reason if the device refuses. The state is
    /// afterwards as it was before.
    ///
    /// A capture cannot allocate memory, and another thread may have taken the memory that the warm-up runs
    /// left free. The capture is therefore attempted several times.
    pub(super) fn record_graph(
        &mut self,
        unit: &ReplayUnit,
        device: &DispatchDevice,
    ) -> Result<Result<Graph, String>, ExecError> {
        let before = self.copy_state(device).ok_or_else(lost_buffer)?;
        let graph = retry(ATTEMPTS, || {
            let graph = Graph::record(device, || (unit.run_plain)(self, device));
            if !matches!(graph, Err(ExecError::OutOfMemory(_))) {
                // The warm-up runs changed the state, and a failed capture has marked the buffers that it
                // would have written as invalid.
                self.set_state(before.clone()).ok_or_else(lost_buffer)?;
            }
            graph
        });
        match graph {
            Err(error @ ExecError::OutOfMemory(_)) => Err(error),
            graph => Ok(graph.map_err(reason)),
        }
    }

    /// Replays the steps of `unit`, runs the same steps plainly, and compares state and losses. The results of
    /// the plain run stay in the buffers. Gives a description of the difference, or `None` if there is none.
    pub(super) fn compare_replay(
        &mut self,
        unit: &ReplayUnit,
        device: &DispatchDevice,
    ) -> Result<Option<String>, ExecError> {
        let before = self.copy_state(device).ok_or_else(lost_buffer)?;
        let replayed = (unit.replay)(self).and_then(|()| self.read_results(unit));
        self.set_state(before.clone()).ok_or_else(lost_buffer)?;
        (unit.run_plain)(self, device)?;
        let expected = self.read_results(unit)?;
        let before = before.into_iter().map(read);
        let before: Vec<Vec<f32>> = before.collect::<Result<_, _>>()?;
        match replayed {
            Ok(replayed) => Ok(find_difference(&replayed, &expected, &before)),
            Err(error @ ExecError::OutOfMemory(_)) => Err(error),
            Err(error) => Ok(Some(reason(error))),
        }
    }
}

/// Calls `attempt` up to `times` times, and gives its first success or its last error. It does not try again
/// if the device is out of memory.
fn retry<T>(
    times: usize,
    mut attempt: impl FnMut() -> Result<T, ExecError>,
) -> Result<T, ExecError> {
    let mut result = attempt();
    for _ in 1..times {
        match result {
            Ok(_) | Err(ExecError::OutOfMemory(_)) => break,
            Err(_) => result = attempt(),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs at most three attempts, which fail with these errors; `None` is a success, whose value is the
    /// number of the attempt. Gives the result, and the number of attempts.
    fn attempts(errors: &[Option<ExecError>]) -> (Result<usize, String>, usize) {
        let mut count = 0;
        let result = retry(3, || {
            count += 1;
            errors[count - 1].clone().map_or(Ok(count), Err)
        });
        (result.map_err(|e| e.to_string()), count)
    }

    #[test]
    fn a_recording_that_fails_is_tried_again() {
        let refused = |why: &str| Some(ExecError::NotReplayed(why.to_owned()));
        let all = [refused("1"), refused("2"), refused("3")];
        let (last, count) = attempts(&all);
        assert!(last.is_err_and(|e| e.contains('3')));
        assert_eq!(count, 3);
        assert_eq!(attempts(&[None]), (Ok(1), 1));
        assert_eq!(attempts(&[refused("1"), None]), (Ok(2), 2));
    }

    #[test]
    fn a_device_without_memory_is_not_asked_again() {
        let full = Some(ExecError::OutOfMemory("64 MB".to_owned()));
        let (error, count) = attempts(&[full, None]);
        assert!(error.is_err());
        assert_eq!(count, 1);
    }
}
