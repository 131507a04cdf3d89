//! Writes states that leave memory, on a thread of their own.

use std::sync::Arc;

use burn_dispatch::DispatchDevice;
use fedround_exec::tensor::transfer_all;

use super::client_states::{ClientStates, Inner};
use super::file::Writing;
use super::resident::Unsaved;
use crate::error::RunError;

impl ClientStates {
    /// Says why states of earlier rounds could not be written. They are in memory, and are written
    /// again at the end of the next round.
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

    /// Begins to write states that have left memory.
    pub(super) fn start_writing(&self, inner: &mut Inner, mut states: Vec<Unsaved>) {
        let host = DispatchDevice::Flex(Default::default());
        for state in &mut states {
            // Here, because a GPU's streams belong to threads.
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
                restore(inner, &states);
            }
            None => restore(inner, &states),
        }
    }

    /// Waits until the states that left memory are in the file.
    pub(super) fn finish_writing(&self) {
        let writing = self.lock().writing.take();
        let Some(writing) = writing else {
            return;
        };
        let states = Arc::clone(&writing.states);
        // No round runs, so that nobody looks for them meanwhile.
        let written = writing.join();
        let mut inner = self.lock();
        match written {
            Ok(Ok(())) => inner.stored = true,
            Ok(Err(error)) => {
                inner.failed = Some(error);
                restore(&mut inner, &states);
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for ClientStates {
    fn drop(&mut self) {
        let writing = self.lock().writing.take();
        if let Some(writing) = writing {
            // Whoever opens the file next must not find it in use.
            _ = writing.join();
        }
    }
}

/// Takes states back that could not be written.
fn restore(inner: &mut Inner, states: &[Unsaved]) {
    for state in states {
        inner.resident.set(state.clone());
    }
}
