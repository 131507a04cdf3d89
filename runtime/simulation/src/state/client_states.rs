//! The clients' states of complete rounds: in memory up to a budget, and beyond it in a file.
//!
//! States that were used longest ago leave memory at the end of a round. They are written on a thread
//! of their own while the next round runs, and are found in memory until then. Without a budget all
//! states stay in memory. Memory is at most the budget and the states of three cohorts: those that
//! a round reads, those that it sets, and those that are being written.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use burn::tensor::DispatchTensor;
use fedround_exec::tensor::compact;
use fedround_store::StoreMark;

use super::file::{StateFile, Writing};
use super::resident::{Key, Resident, Unsaved, size};
use crate::error::RunError;

/// States that a checkpoint writes at a time.
const CHUNK: usize = 16;

/// Bytes of clients' states in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientMemory {
    /// Now.
    pub bytes: usize,
    /// The most since the simulation was made: at most the budget and the states of three cohorts
    /// (those that a round reads, those that it sets, and those of the round before that are being
    /// written).
    pub most: usize,
    /// What may stay from one round to the next; everything if it is `None`.
    pub budget: Option<usize>,
}

/// Of clients, by name.
#[derive(Default)]
pub(crate) struct ClientStates {
    inner: Mutex<Inner>,
    /// Something was read, or what was read ahead was used.
    pub(super) changed: Condvar,
    pub(super) file: Arc<StateFile>,
}

#[derive(Default)]
pub(super) struct Inner {
    pub resident: Resident,
    /// Complete rounds.
    pub round: usize,
    /// Bytes of states that may be in memory between rounds; all if it is not set.
    budget: Option<usize>,
    /// Whether there are states in the file.
    pub stored: bool,
    /// What threads are reading from the file.
    pub loading: HashSet<Key>,
    pub writing: Option<Writing>,
    /// Why states could not be written.
    pub failed: Option<RunError>,
    /// The most bytes that were in memory.
    most: usize,
}

impl Inner {
    /// A state that is in memory.
    fn find(&mut self, key: &Key) -> Option<(Vec<DispatchTensor>, bool)> {
        let found = self.resident.find(key, self.round);
        let written = || {
            let state = self.writing().find(|state| state.key == *key);
            state.map(|state| (state.tensors.clone(), false))
        };
        found.or_else(written)
    }

    fn writing(&self) -> impl Iterator<Item = &Unsaved> {
        self.writing.iter().flat_map(|w| w.states.iter())
    }

    pub fn contains(&self, key: &Key) -> bool {
        self.resident.contains(key) || self.writing().any(|state| state.key == *key)
    }

    fn bytes(&self) -> usize {
        let writing = self.writing().map(|state| size(&state.tensors));
        self.resident.bytes() + writing.sum::<usize>()
    }

    /// Keeps memory within the budget while a round reads states.
    fn trim(&mut self) {
        if let Some(budget) = self.budget {
            self.resident.drop_saved(budget);
        }
    }

    fn count(&mut self) {
        self.most = self.most.max(self.bytes());
    }
}

impl ClientStates {
    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub(super) fn wait<'a>(&self, inner: MutexGuard<'a, Inner>) -> MutexGuard<'a, Inner> {
        self.changed.wait(inner).unwrap_or_else(|e| e.into_inner())
    }

    /// Sets the bytes of states that stay in memory between rounds.
    pub fn set_budget(&self, bytes: usize) {
        self.lock().budget = Some(bytes);
    }

    /// Sets the path of the file.
    pub fn set_path(&self, path: PathBuf) {
        self.file.set_path(path);
    }

    /// Bytes of states in memory.
    pub fn memory(&self) -> ClientMemory {
        let inner = self.lock();
        ClientMemory {
            bytes: inner.bytes(),
            most: inner.most,
            budget: inner.budget,
        }
    }

    /// A client's state.
    pub fn get(&self, key: Key) -> Result<Option<Vec<DispatchTensor>>, RunError> {
        let mut inner = self.lock();
        loop {
            if let Some((found, awaited)) = inner.find(&key) {
                if awaited {
                    inner.trim();
                    self.changed.notify_all();
                }
                return Ok(Some(found));
            }
            if !inner.stored {
                return Ok(None);
            }
            if inner.loading.insert(key.clone()) {
                break;
            }
            inner = self.wait(inner);
        }
        drop(inner);
        self.load(key, false)
    }

    /// Reads a state that was noted as loading.
    pub(super) fn load(
        &self,
        key: Key,
        ahead: bool,
    ) -> Result<Option<Vec<DispatchTensor>>, RunError> {
        let read = self.file.read(&key);
        let mut inner = self.lock();
        inner.loading.remove(&key);
        self.changed.notify_all();
        let found = read?;
        if let Some(tensors) = &found {
            let round = inner.round;
            inner.resident.load(key, tensors.clone(), round, ahead);
            inner.count();
            if !ahead {
                inner.trim();
            }
        }
        Ok(found)
    }

    /// Keeps the states of a complete round.
    pub fn commit(&self, fresh: Vec<(Key, Vec<DispatchTensor>)>) {
        let round = self.lock().round + 1;
        self.keep(fresh, round);
    }

    /// Keeps states that were set in a round or before it.
    fn keep(&self, states: Vec<(Key, Vec<DispatchTensor>)>, version: usize) {
        self.finish_writing();
        let mut inner = self.lock();
        inner.round = version;
        for (key, tensors) in states {
            // One client's part of a group's tensor would keep all of it.
            let tensors = tensors.into_iter().map(compact).collect();
            inner.resident.set(Unsaved {
                key,
                version,
                tensors,
            });
        }
        inner.count();
        let Some(budget) = inner.budget else {
            return;
        };
        let states = inner.resident.shrink(budget);
        if !states.is_empty() {
            self.start_writing(&mut inner, states);
        }
    }

    /// Writes all states, so that the file is a checkpoint of them; `None` if the file does not
    /// outlive the process, as when somebody deleted it, or if no client has a state.
    pub fn checkpoint(&self, round: usize) -> Result<Option<StoreMark>, RunError> {
        self.finish_writing();
        self.check()?;
        if !self.file.outlives_process() {
            return Ok(None);
        }
        let mut inner = self.lock();
        let states = inner.resident.unsaved();
        if states.is_empty() && self.file.opened().is_none() {
            return Ok(None);
        }
        for some in states.chunks(CHUNK) {
            self.file.write(some)?;
        }
        let mark = self.file.get()?.checkpoint(round)?;
        inner.resident.all_saved();
        inner.stored = true;
        // What comes next is of later rounds, also if some rounds set nothing.
        inner.round = inner.round.max(round);
        Ok(Some(mark))
    }

    /// Forgets all states, and goes back to a checkpoint of the file; to no states without one.
    pub fn restore(&self, mark: Option<&StoreMark>) -> Result<(), RunError> {
        self.finish_writing();
        match mark {
            Some(mark) => self.file.reopen()?.rollback(mark)?,
            None => self.file.remove()?,
        }
        let mut inner = self.lock();
        inner.resident = Resident::default();
        inner.failed = None;
        inner.stored = mark.is_some();
        inner.round = mark.map_or(0, |mark| mark.round);
        Ok(())
    }

    /// Replaces all states by those after so many rounds, which are in no file.
    pub fn replace(
        &self,
        states: Vec<(Key, Vec<DispatchTensor>)>,
        rounds: usize,
    ) -> Result<(), RunError> {
        self.restore(None)?;
        self.keep(states, rounds);
        Ok(())
    }

    /// All states, ordered by key; those that are in the file are read.
    pub fn all(&self) -> Result<Vec<(Key, Vec<DispatchTensor>)>, RunError> {
        let mut inner = self.lock();
        let mut all: Vec<(Key, Vec<DispatchTensor>)> = vec![];
        let in_memory = inner.resident.iter();
        all.extend(in_memory.map(|(key, tensors)| (key.clone(), tensors.to_vec())));
        let writing = inner.writing();
        all.extend(writing.map(|state| (state.key.clone(), state.tensors.clone())));
        for key in self.file.keys()? {
            if inner.find(&key).is_none()
                && let Some(tensors) = self.file.read(&key)?
            {
                all.push((key, tensors));
            }
        }
        all.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(all)
    }
}
