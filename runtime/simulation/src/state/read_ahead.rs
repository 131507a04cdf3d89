//! Reads states from the file before workers need them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};

use super::committed_states::CommittedStates;
use super::resident::Key;

/// The largest number of states that are read ahead and not yet used.
const AHEAD: usize = 64;

impl CommittedStates {
    /// Runs `work` while another thread reads states from the file, in this order. If a state cannot be read, the error
    /// appears when `work` reads it. States that `work` did not ask for leave memory at its end.
    pub fn reading_ahead<T>(&self, keys: impl Iterator<Item = Key>, work: impl FnOnce() -> T) -> T {
        let keys = self.to_read_ahead(keys);
        if keys.is_empty() {
            return work();
        }
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let reader = thread::Builder::new().name("read-ahead".to_owned());
            // If the thread cannot start, workers read the states themselves.
            let started = reader.spawn_scoped(scope, || self.read_ahead(&keys, &stop));
            let _end = EndOnDrop {
                states: self,
                keys: &keys,
                stop: &stop,
                reader: started.ok(),
            };
            work()
        })
    }

    /// The states, of those asked for, that only the file has. They are to be read ahead from now on.
    pub(super) fn to_read_ahead(&self, keys: impl Iterator<Item = Key>) -> Vec<Key> {
        let mut inner = self.lock();
        if !inner.stored {
            return vec![];
        }
        let absent: Vec<Key> = keys.filter(|key| !inner.contains(key)).collect();
        inner.to_read_ahead.extend(absent.iter().cloned());
        absent
    }

    pub(super) fn read_ahead(&self, keys: &[Key], stop: &AtomicBool) {
        for key in keys {
            let mut inner = self.lock();
            while inner.resident.awaited() >= AHEAD && !stop.load(Ordering::Relaxed) {
                inner = self.wait(inner);
            }
            if stop.load(Ordering::Relaxed) {
                return;
            }
            // One that a worker has asked for before was read by that worker, and may have left memory again.
            let wanted = inner.to_read_ahead.remove(key);
            let to_load = wanted && !inner.contains(key) && inner.loading.insert(key.clone());
            drop(inner);
            if to_load && self.load(key.clone(), true).is_err() {
                return;
            }
        }
    }
}

/// Ends reading ahead when the work has ended, or has panicked.
struct EndOnDrop<'a, 'scope> {
    states: &'a CommittedStates,
    keys: &'a [Key],
    stop: &'a AtomicBool,
    /// `None` if the thread could not start.
    reader: Option<ScopedJoinHandle<'scope, ()>>,
}

impl Drop for EndOnDrop<'_, '_> {
    fn drop(&mut self) {
        // Set under the lock, so that the reader cannot miss the change between its check and its wait.
        let inner = self.states.lock();
        self.stop.store(true, Ordering::Relaxed);
        drop(inner);
        self.states.changed.notify_all();
        if let Some(reader) = self.reader.take() {
            // What it reads at this moment is released, too.
            _ = reader.join();
        }
        let mut inner = self.states.lock();
        for key in self.keys {
            inner.to_read_ahead.remove(key);
            inner.resident.release(key);
        }
        inner.trim();
    }
}
