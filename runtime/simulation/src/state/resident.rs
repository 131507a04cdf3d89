//! States in memory. Those that were used longest ago leave memory first.
//!
//! Use is counted in rounds, and states that were last used in the same round leave in the order of their keys. While
//! a round reads states, the timing of threads decides which of them are in memory when others have to leave. Which
//! states leave, and the order in which they are written, may therefore differ from run to run. No result does: a state
//! has the same value in memory and in the file.

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

/// Identifies a state of a client.
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

/// The bytes of a state.
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

/// The states in memory. Each is in exactly one of `saved`, `unsaved` and `awaited`.
#[derive(Default)]
pub(super) struct Resident {
    entries: HashMap<Key, Entry>,
    /// States that the file has, too, by the round of their last use.
    saved: BTreeSet<(usize, Key)>,
    /// States that only memory has, by the round of their last use.
    unsaved: BTreeSet<(usize, Key)>,
    /// States that were read ahead and not used yet. They stay in memory until they are released.
    awaited: BTreeSet<Key>,
    /// The bytes of all states.
    bytes: usize,
}

impl Resident {
    /// A state, which is hereby used in this round, and whether this is its first use after it was read ahead.
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

    /// The number of states that were read ahead and not used yet.
    pub fn awaited(&self) -> usize {
        self.awaited.len()
    }

    /// Lets a state leave memory that was read ahead, and that nobody needs now.
    pub fn release(&mut self, key: &Key) {
        if let Some(key) = self.awaited.take(key) {
            let used = self.entries.get(&key).map_or(0, |entry| entry.used);
            self.saved.insert((used, key));
        }
    }

    /// Drops states that the file has, too, until the others fit into the budget.
    pub fn drop_saved(&mut self, budget: usize) {
        while self.bytes > budget
            && let Some((_, key)) = self.saved.pop_first()
        {
            self.remove(&key);
        }
    }

    /// Ends a round: removes the states that were used longest ago until the others fit into the budget. Returns
    /// those that the file does not have.
    pub fn shrink(&mut self, budget: usize) -> Vec<Unsaved> {
        let mut to_write = vec![];
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
                to_write.push(Unsaved {
                    key,
                    version,
                    tensors,
                });
            }
        }
        to_write
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

    /// Records that the file now has all states.
    pub fn mark_all_saved(&mut self) {
        self.saved.append(&mut self.unsaved);
        self.entries.values_mut().for_each(|e| e.unsaved = None);
    }

    /// All states, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &[DispatchTensor])> {
        let entries = self.entries.iter();
        entries.map(|(key, entry)| (key, &entry.tensors[..]))
    }
}
