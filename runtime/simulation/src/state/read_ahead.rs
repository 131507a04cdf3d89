//! Reads states from the file before workers ask for them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::client_states::ClientStates;
use super::resident::Key;

/// States that may wait for their clients' turn.
const AHEAD: usize = 64;

impl ClientStates {
    /// Does work while states are read from the file in this order. What cannot be read is left to
    /// whoever asks for it.
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
            let _end = End(self, &stop);
            let reader = thread::Builder::new().name("read-ahead".to_owned());
            // Without a thread, workers read what they need.
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

/// Ends reading ahead when the work is done, or panics.
struct End<'a>(&'a ClientStates, &'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        // While no reader is between looking and waiting.
        let inner = self.0.lock();
        self.1.store(true, Ordering::Relaxed);
        drop(inner);
        self.0.changed.notify_all();
    }
}
