//! Records what a captured step does, one step or several, and compares replays with plain runs.

use burn_dispatch::DispatchDevice;

use super::buffer::lost;
use super::graph::{Graph, reason};
use super::step::{CapturedStep, Runs};
use super::validate::differs;
use crate::device::ExecError;
use crate::tensor::read;

/// How often a recording is tried.
const ATTEMPTS: usize = 3;

impl CapturedStep {
    /// Records these steps, or says why the device does not; the state is as before. A recording
    /// takes no new memory, and what it needs may have gone to another thread meanwhile: it is tried
    /// again.
    pub(super) fn recorded(
        &mut self,
        runs: &Runs,
        device: &DispatchDevice,
    ) -> Result<Result<Graph, String>, ExecError> {
        let before = self.state(device).ok_or_else(lost)?;
        let recorded = tried(ATTEMPTS, || {
            let graph = Graph::record(device, || (runs.plain)(self, device));
            if !matches!(graph, Err(ExecError::OutOfMemory(_))) {
                // A recording that failed has marked what it would have written as lost.
                self.set(before.clone()).ok_or_else(lost)?;
            }
            graph
        });
        match recorded {
            Err(full @ ExecError::OutOfMemory(_)) => Err(full),
            recorded => Ok(recorded.map_err(reason)),
        }
    }

    /// Replays, and compares state and losses with those of a plain run, which count. Gives where they
    /// differ, if they do.
    pub(super) fn compare(
        &mut self,
        runs: &Runs,
        device: &DispatchDevice,
    ) -> Result<Option<String>, ExecError> {
        let before = self.state(device).ok_or_else(lost)?;
        let replayed = (runs.replay)(self).and_then(|()| self.values(runs));
        self.set(before.clone()).ok_or_else(lost)?;
        (runs.plain)(self, device)?;
        let expected = self.values(runs)?;
        let before = before.into_iter().map(read);
        let before: Vec<Vec<f32>> = before.collect::<Result<_, _>>()?;
        match replayed {
            Ok(replayed) => Ok(differs(&replayed, &expected, &before)),
            Err(full @ ExecError::OutOfMemory(_)) => Err(full),
            Err(error) => Ok(Some(reason(error))),
        }
    }
}

/// The first success of so many tries, or the last error. A device that is out of memory is not
/// asked again.
fn tried<T>(
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

    /// The result of three tries that end with these errors, or with their number, and how many
    /// there were.
    fn three(errors: &[Option<ExecError>]) -> (Result<usize, String>, usize) {
        let mut tries = 0;
        let result = tried(3, || {
            tries += 1;
            errors[tries - 1].clone().map_or(Ok(tries), Err)
        });
        (result.map_err(|e| e.to_string()), tries)
    }

    #[test]
    fn a_recording_that_fails_is_tried_again() {
        let refused = |why: &str| Some(ExecError::NotReplayed(why.to_owned()));
        let all = [refused("1"), refused("2"), refused("3")];
        let (last, tries) = three(&all);
        assert!(last.is_err_and(|e| e.contains('3')));
        assert_eq!(tries, 3);
        assert_eq!(three(&[None]), (Ok(1), 1));
        assert_eq!(three(&[refused("1"), None]), (Ok(2), 2));
    }

    #[test]
    fn a_device_without_memory_is_not_asked_again() {
        let full = Some(ExecError::OutOfMemory("64 MB".to_owned()));
        let (error, tries) = three(&[full, None]);
        assert!(error.is_err());
        assert_eq!(tries, 1);
    }
}
