//! The clients' states of completed rounds: in memory up to a budget, and beyond it in a file.
//!
//! At the end of a round, the states that were used longest ago leave memory. Another thread writes them while the
//! next round runs; until then they can still be read from memory. Without a budget all states stay in memory. The
//! states take at most the memory of the budget and of three cohorts: those that a round reads, those that it sets,
//! and those that are being written. Of the latter, the bytes of a few at a time come on top.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use burn::tensor::DispatchTensor;
use fedround_exec::tensor::compact;
use fedround_store::StoreMark;

use super::file::{StateFile, Writing};
use super::resident::{Key, Resident, Unsaved, size};
use crate::error::RunError;

/// The memory of the clients' states, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientMemory {
    /// The present memory.
    pub bytes: usize,
    /// The largest memory since the simulation was created. It is at most the budget and the states of three cohorts:
    /// those that a round reads, those that it sets, and those of the round before that are being written.
    pub most: usize,
    /// The memory that may stay in use from one round to the next; `None` without a limit.
    pub budget: Option<usize>,
}

/// The states of completed rounds, shared by all clones of a simulation's state.
#[derive(Default)]
pub(crate) struct CommittedStates {
    inner: Mutex<Inner>,
    /// Signals that a state was read from the file, or that a state that was read ahead was used.
    pub(super) changed: Condvar,
    pub(super) file: Arc<StateFile>,
}

#[derive(Default)]
pub(super) struct Inner {
    /// The states in memory, without those that are being written.
    pub resident: Resident,
    /// The number of completed rounds.
    pub round: usize,
    /// The bytes of states that may stay in memory between rounds; `None` without a limit.
    budget: Option<usize>,
    /// Whether the file has any states.
    pub stored: bool,
    /// The states that threads are reading from the file.
    pub loading: HashSet<Key>,
    /// The states that are to be read ahead, and that nobody has asked for yet.
    pub to_read_ahead: HashSet<Key>,
    /// The states that are being written; `None` if there are none.
    pub writing: Option<Writing>,
    /// Why states could not be written, until the error is returned.
    pub failed: Option<RunError>,
    /// The largest number of bytes that were in memory.
    most: usize,
}

impl Inner {
    /// A state in memory, and whether it was read ahead and is now used for the first time.
    fn find(&mut self, key: &Key) -> Option<(Vec<DispatchTensor>, bool)> {
        let found = self.resident.find(key, self.round);
        let being_written = || {
            let state = self.writing().find(|state| state.key == *key);
            state.map(|state| (state.tensors.clone(), false))
        };
        found.or_else(being_written)
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

    /// Drops states that the file has until memory is within the budget, while a round reads states.
    pub fn trim(&mut self) {
        if let Some(budget) = self.budget {
            self.resident.drop_saved(budget);
        }
    }

    fn update_most(&mut self) {
        self.most = self.most.max(self.bytes());
    }
}

impl CommittedStates {
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

    /// Sets the path of the file. All states that there are move there, from memory and from the file before.
    pub fn set_path(&self, path: PathBuf) -> Result<(), RunError> {
        if self.file.path().as_ref() == Some(&path) {
            return Ok(());
        }
        self.finish_writing();
        let all = self.all()?;
        let round = {
            let mut inner = self.lock();
            self.file.set_path(path);
            inner.resident = Resident::default();
            // The states of the former file are all here.
            (inner.stored, inner.failed) = (false, None);
            inner.round
        };
        self.add(all, round);
        Ok(())
    }

    /// Whether the file has a path.
    pub fn has_path(&self) -> bool {
        self.file.path().is_some()
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

    /// A client's state, from memory or from the file; `None` if it was never set.
    pub fn get(&self, key: Key) -> Result<Option<Vec<DispatchTensor>>, RunError> {
        let mut inner = self.lock();
        // Whoever reads ahead is too late for it now.
        inner.to_read_ahead.remove(&key);
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

    /// Reads a state from the file. The caller has added its key to `loading`.
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
            inner.update_most();
            if !ahead {
                inner.trim();
            }
        }
        Ok(found)
    }

    /// Commits the states that a completed round has set.
    pub fn commit(&self, pending: Vec<(Key, Vec<DispatchTensor>)>) {
        let round = self.lock().round + 1;
        self.add(pending, round);
    }

    /// Adds states that were set in round `version` or before it, and writes others to the file if the budget is
    /// exceeded.
    fn add(&self, states: Vec<(Key, Vec<DispatchTensor>)>, version: usize) {
        self.finish_writing();
        let mut inner = self.lock();
        inner.round = version;
        for (key, tensors) in states {
            // Copied, because a slice of a group's stacked tensor would keep the whole tensor in memory. Slices on
            // a GPU were copied there already.
            let tensors = tensors.into_iter().map(compact).collect();
            inner.resident.set(Unsaved {
                key,
                version,
                tensors,
            });
        }
        inner.update_most();
        let Some(budget) = inner.budget else {
            return;
        };
        let states = inner.resident.shrink(budget);
        if !states.is_empty() {
            self.start_writing(&mut inner, states);
        }
    }

    /// Writes all states, and returns a mark to which the file can be rolled back. `None` if no client has a state,
    /// or if the file does not outlive the process: because it is temporary, or because somebody deleted it.
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
        self.file.write(&states)?;
        let mark = self.file.get()?.checkpoint(round)?;
        inner.resident.mark_all_saved();
        inner.stored = true;
        // States that are set from now on belong to later rounds, even if recent rounds set none.
        inner.round = inner.round.max(round);
        Ok(Some(mark))
    }

    /// Drops all states, and rolls the file back to a mark. Without a mark there are no states afterwards. If that
    /// fails, all is as before.
    pub fn restore(&self, mark: Option<&StoreMark>) -> Result<(), RunError> {
        self.finish_writing();
        match mark {
            Some(mark) => self.file.roll_back(mark)?,
            None => self.file.remove()?,
        }
        let mut inner = self.lock();
        inner.resident = Resident::default();
        inner.failed = None;
        inner.stored = mark.is_some();
        inner.round = mark.map_or(0, |mark| mark.round);
        Ok(())
    }

    /// Replaces all states by those after `rounds` rounds. No file has them.
    pub fn replace(
        &self,
        states: Vec<(Key, Vec<DispatchTensor>)>,
        rounds: usize,
    ) -> Result<(), RunError> {
        self.restore(None)?;
        self.add(states, rounds);
        Ok(())
    }

    /// All states, ordered by key. Reads those that are only in the file.
    pub fn all(&self) -> Result<Vec<(Key, Vec<DispatchTensor>)>, RunError> {
        let inner = self.lock();
        let mut all: Vec<(Key, Vec<DispatchTensor>)> = vec![];
        let in_memory = inner.resident.iter();
        all.extend(in_memory.map(|(key, tensors)| (key.clone(), tensors.to_vec())));
        let writing = inner.writing();
        all.extend(writing.map(|state| (state.key.clone(), state.tensors.clone())));
        for key in self.file.keys()? {
            if !inner.contains(&key)
                && let Some(tensors) = self.file.read(&key)?
            {
                all.push((key, tensors));
            }
        }
        all.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(all)
    }
}
