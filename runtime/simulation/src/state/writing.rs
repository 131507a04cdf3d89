//! Writes states that leave memory to the file, on another thread.

use std::sync::Arc;

use burn_dispatch::DispatchDevice;
use fedround_exec::device::without_gpu_access;
use fedround_exec::tensor::transfer_all;

use super::committed_states::{CommittedStates, Inner};
use super::file::Writing;
use super::resident::Unsaved;
use crate::error::RunError;

impl CommittedStates {
    /// Returns the error if states of earlier rounds could not be written. Such states stay in memory; the end of the
    /// next round tries to write them again.
    pub fn check(&self) -> Result<(), RunError> {
        let ended = {
            let inner = self.lock();
            let writing = inner.writing.as_ref();
            writing.is_some_and(Writing::is_finished)
        };
        if ended {
            self.finish_writing();
        }
        self.lock().failed.take().map_or(Ok(()), Err)
    }

    /// Starts to write states that have left memory.
    pub(super) fn start_writing(&self, inner: &mut Inner, mut states: Vec<Unsaved>) {
        let host = DispatchDevice::Flex(Default::default());
        for state in &mut states {
            // Copied to the host on this thread, because each thread has a GPU stream of its own.
            match transfer_all(state.tensors.clone(), &host) {
                Ok(tensors) => state.tensors = tensors,
                Err(error) => inner.failed = Some(error.into()),
            }
        }
        let states = Arc::new(states);
        let failed = inner.failed.is_some();
        let started = (!failed).then(|| Writing::start(&self.file, &states));
        match started {
            Some(Ok(writing)) => inner.writing = Some(writing),
            Some(Err(error)) => {
                inner.failed = Some(RunError::Thread(error));
                put_back(inner, &states);
            }
            None => put_back(inner, &states),
        }
    }

    /// Waits until the states that left memory are in the file.
    pub(super) fn finish_writing(&self) {
        let writing = self.lock().writing.take();
        let Some(writing) = writing else {
            return;
        };
        let states = Arc::clone(&writing.states);
        // No round runs meanwhile, so nobody reads these states.
        let written = without_gpu_access(|| writing.join());
        let mut inner = self.lock();
        match written {
            Ok(Ok(())) => inner.stored = true,
            Ok(Err(error)) => {
                inner.failed = Some(error);
                put_back(&mut inner, &states);
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for CommittedStates {
    fn drop(&mut self) {
        let writing = self.lock().writing.take();
        if let Some(writing) = writing {
            // Wait, so that the file is closed before another simulation opens it.
            _ = writing.join();
        }
    }
}

/// Puts states that could not be written back into memory.
fn put_back(inner: &mut Inner, states: &[Unsaved]) {
    for state in states {
        inner.resident.set(state.clone());
    }
}
