//! States in memory, and which of them leave it first: those that were used longest ago.
//!
//! Use is counted in rounds, and states of one round leave in the order of their keys, so that what
//! is written does not depend on the timing of threads.

use std::collections::{BTreeSet, HashMap};

use burn::tensor::DispatchTensor;
use burn_backend::TensorMetadata;
use serde::{Deserialize, Serialize};

/// Who keeps a state for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub(crate) enum Side {
    /// The client itself.
    Client,
    /// The server.
    Server,
}

/// Which state it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub(crate) struct Key {
    pub side: Side,
    pub client: usize,
    pub name: String,
}

/// A state that the file does not have.
#[derive(Clone)]
pub(super) struct Unsaved {
    pub key: Key,
    /// The round that set it.
    pub version: usize,
    pub tensors: Vec<DispatchTensor>,
}

/// Bytes of a state.
pub(super) fn size(tensors: &[DispatchTensor]) -> usize {
    tensors.iter().map(|t| 4 * t.shape().num_elements()).sum()
}

struct Entry {
    tensors: Vec<DispatchTensor>,
    bytes: usize,
    /// The round of its last use.
    used: usize,
    /// The round that set it, if the file does not have it.
    unsaved: Option<usize>,
}

/// States in memory.
#[derive(Default)]
pub(super) struct Resident {
    entries: HashMap<Key, Entry>,
    /// What the file has, too, by last use.
    saved: BTreeSet<(usize, Key)>,
    /// What only memory has, by last use.
    unsaved: BTreeSet<(usize, Key)>,
    /// What was read ahead and nobody has used yet: it stays, and is in neither of the others.
    awaited: BTreeSet<Key>,
    bytes: usize,
}

impl Resident {
    /// A state, which is used in this round. Also whether it was awaited.
    pub fn find(&mut self, key: &Key, round: usize) -> Option<(Vec<DispatchTensor>, bool)> {
        let entry = self.entries.get_mut(key)?;
        let old = (entry.used, key.clone());
        entry.used = round;
        let awaited = self.awaited.remove(key);
        let order = match entry.unsaved {
            Some(_) => &mut self.unsaved,
            None => &mut self.saved,
        };
        order.remove(&old);
        order.insert((round, old.1));
        Some((entry.tensors.clone(), awaited))
    }

    pub fn contains(&self, key: &Key) -> bool {
        self.entries.contains_key(key)
    }

    /// Sets a state.
    pub fn set(&mut self, state: Unsaved) {
        let Unsaved {
            key,
            version,
            tensors,
        } = state;
        self.remove(&key);
        self.unsaved.insert((version, key.clone()));
        self.insert(key, tensors, version, Some(version));
    }

    /// Adds a state from the file.
    pub fn load(&mut self, key: Key, tensors: Vec<DispatchTensor>, round: usize, awaited: bool) {
        self.remove(&key);
        match awaited {
            true => _ = self.awaited.insert(key.clone()),
            false => _ = self.saved.insert((round, key.clone())),
        }
        self.insert(key, tensors, round, None);
    }

    fn insert(
        &mut self,
        key: Key,
        tensors: Vec<DispatchTensor>,
        used: usize,
        unsaved: Option<usize>,
    ) {
        let bytes = size(&tensors);
        self.bytes += bytes;
        let entry = Entry {
            tensors,
            bytes,
            used,
            unsaved,
        };
        self.entries.insert(key, entry);
    }

    /// Bytes of all states.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many were read ahead and nobody has used yet.
    pub fn awaited(&self) -> usize {
        self.awaited.len()
    }

    /// Drops states that the file has until the rest fits.
    pub fn drop_saved(&mut self, budget: usize) {
        while self.bytes > budget
            && let Some((_, key)) = self.saved.pop_first()
        {
            self.remove(&key);
        }
    }

    /// Ends a round: takes the states that were used longest ago until the rest fits. The file does not
    /// have those that it gives.
    pub fn shrink(&mut self, budget: usize) -> Vec<Unsaved> {
        for key in std::mem::take(&mut self.awaited) {
            let used = self.entries.get(&key).map_or(0, |entry| entry.used);
            self.saved.insert((used, key));
        }
        let mut out = vec![];
        while self.bytes > budget {
            let saved_first = match (self.saved.first(), self.unsaved.first()) {
                (Some((a, _)), Some((b, _))) => a <= b,
                (saved, _) => saved.is_some(),
            };
            let order = match saved_first {
                true => &mut self.saved,
                false => &mut self.unsaved,
            };
            let Some((_, key)) = order.pop_first() else {
                break;
            };
            if let Some(entry) = self.remove(&key)
                && let Some(version) = entry.unsaved
            {
                let tensors = entry.tensors;
                out.push(Unsaved {
                    key,
                    version,
                    tensors,
                });
            }
        }
        out
    }

    fn remove(&mut self, key: &Key) -> Option<Entry> {
        let entry = self.entries.remove(key)?;
        self.bytes -= entry.bytes;
        if !self.awaited.remove(key) {
            let place = (entry.used, key.clone());
            match entry.unsaved {
                Some(_) => self.unsaved.remove(&place),
                None => self.saved.remove(&place),
            };
        }
        Some(entry)
    }

    /// The states that the file does not have, ordered by key.
    pub fn unsaved(&self) -> Vec<Unsaved> {
        let mut all: Vec<Unsaved> = vec![];
        for (_, key) in &self.unsaved {
            if let Some(entry) = self.entries.get(key) {
                all.push(Unsaved {
                    key: key.clone(),
                    version: entry.unsaved.unwrap_or_default(),
                    tensors: entry.tensors.clone(),
                });
            }
        }
        all.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        all
    }

    /// The file now has all states.
    pub fn all_saved(&mut self) {
        self.saved.append(&mut self.unsaved);
        self.entries.values_mut().for_each(|e| e.unsaved = None);
    }

    /// All states, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &[DispatchTensor])> {
        let entries = self.entries.iter();
        entries.map(|(key, entry)| (key, &entry.tensors[..]))
    }
}
