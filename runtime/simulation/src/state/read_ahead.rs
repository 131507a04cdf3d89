//! Reads states from the file before workers need them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::committed_states::CommittedStates;
use super::resident::Key;

/// The largest number of states that are read ahead and not yet used.
const AHEAD: usize = 64;

impl CommittedStates {
    /// Runs `work` while another thread reads states from the file, in this order. If a state cannot be read, the error
    /// appears when `work` reads it.
    pub fn reading_ahead<T>(&self, keys: impl Iterator<Item = Key>, work: impl FnOnce() -> T) -> T {
        let keys: Vec<Key> = {
            let inner = self.lock();
            let absent = keys.filter(|key| !inner.contains(key));
            if inner.stored {
                absent.collect()
            } else {
                Vec::new()
            }
        };
        if keys.is_empty() {
            return work();
        }
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let _stop = StopOnDrop(self, &stop);
            let reader = thread::Builder::new().name("read-ahead".to_owned());
            // If the thread cannot start, workers read the states themselves.
            _ = reader.spawn_scoped(scope, || self.read_ahead(keys, &stop));
            work()
        })
    }

    fn read_ahead(&self, keys: Vec<Key>, stop: &AtomicBool) {
        for key in keys {
            let mut inner = self.lock();
            while inner.resident.awaited() >= AHEAD && !stop.load(Ordering::Relaxed) {
                inner = self.wait(inner);
            }
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let known = inner.contains(&key) || !inner.loading.insert(key.clone());
            drop(inner);
            if !known && self.load(key, true).is_err() {
                return;
            }
        }
    }
}

/// Stops reading ahead when the work has ended, or has panicked.
struct StopOnDrop<'a>(&'a CommittedStates, &'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        // Set under the lock, so that the reader cannot miss the change between its check and its wait.
        let inner = self.0.lock();
        self.1.store(true, Ordering::Relaxed);
        drop(inner);
        self.0.changed.notify_all();
    }
}
