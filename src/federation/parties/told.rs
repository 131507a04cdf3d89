//! What an operator was told of parties, so that it is said once.

use std::collections::{BTreeMap, BTreeSet};

use fedround_flower::NodeId;

/// The most reasons of one party that are told. One that gives a new reason in each round gives no news.
const MOST: usize = 20;

/// What was told of parties that are online.
#[derive(Default)]
pub(super) struct Told {
    reasons: BTreeMap<NodeId, BTreeSet<String>>,
    joined: BTreeMap<NodeId, Vec<usize>>,
}

impl Told {
    /// Whether a party has not failed or refused for this reason before.
    pub fn is_new_reason(&mut self, id: NodeId, why: &str) -> bool {
        let reasons = self.reasons.entry(id).or_default();
        reasons.len() < MOST && reasons.insert(why.to_owned())
    }

    /// Whether a party is new, or was there with other clients.
    pub fn is_new_party(&mut self, id: NodeId, clients: &[usize]) -> bool {
        let before = self.joined.insert(id, clients.to_vec());
        before.as_deref() != Some(clients)
    }

    /// A party takes part no more, although it is online.
    pub fn leaves(&mut self, id: NodeId) {
        self.joined.remove(&id);
    }

    /// Forgets parties that have gone: all of them is news when they come again.
    pub fn keep(&mut self, online: &BTreeSet<NodeId>) {
        self.reasons.retain(|id, _| online.contains(id));
        self.joined.retain(|id, _| online.contains(id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_told_once() {
        let (mut told, id) = (Told::default(), NodeId(7));
        assert!(told.is_new_party(id, &[1, 2]));
        assert!(!told.is_new_party(id, &[1, 2]));
        assert!(told.is_new_party(id, &[1]));
        assert!(told.is_new_reason(id, "no room") && !told.is_new_reason(id, "no room"));
        assert!(told.is_new_reason(NodeId(8), "no room"));
        told.leaves(id);
        assert!(told.is_new_party(id, &[1]) && !told.is_new_reason(id, "no room"));
        told.keep(&BTreeSet::from([NodeId(8)]));
        assert!(!told.is_new_reason(NodeId(8), "no room"));
        assert!(told.is_new_party(id, &[1]) && told.is_new_reason(id, "no room"));
        let more = (0..2 * MOST).filter(|n| told.is_new_reason(id, &n.to_string()));
        assert_eq!(more.count(), MOST - 1);
    }
}
