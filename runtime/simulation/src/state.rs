//! The state that an algorithm keeps between rounds, on the server and for each client.
//!
//! A round that fails leaves the state as it was before.

use std::collections::HashMap;

use burn::tensor::DispatchTensor;

/// By the name that the spec gives it.
#[derive(Clone, Default)]
pub(crate) struct State {
    pub server: HashMap<String, Vec<DispatchTensor>>,
    pub clients: ByClient,
    /// What the server keeps for each client.
    pub for_clients: ByClient,
}

impl State {
    /// The values that may be new in the round in progress.
    pub fn set_in_round(&self) -> impl Iterator<Item = &DispatchTensor> {
        let own = [&self.clients, &self.for_clients].into_iter();
        let own = own.flat_map(|states| states.fresh.values());
        self.server.values().chain(own).flatten()
    }

    /// Ends a round: its states are kept.
    pub fn commit(&mut self) {
        self.clients.commit();
        self.for_clients.commit();
    }

    /// Forgets the states of a round that failed; `server` is the server's before it.
    pub fn undo(&mut self, server: HashMap<String, Vec<DispatchTensor>>) {
        self.server = server;
        self.clients.fresh.clear();
        self.for_clients.fresh.clear();
    }
}

/// States by client and name. Those of the round in progress are apart, so that a round costs what
/// its cohort does, however many clients have states.
#[derive(Clone, Default)]
pub(crate) struct ByClient {
    kept: HashMap<(usize, String), Vec<DispatchTensor>>,
    fresh: HashMap<(usize, String), Vec<DispatchTensor>>,
}

impl ByClient {
    pub fn get(&self, key: &(usize, String)) -> Option<&Vec<DispatchTensor>> {
        self.fresh.get(key).or_else(|| self.kept.get(key))
    }

    /// Sets states in the round in progress.
    pub fn extend(&mut self, states: Vec<((usize, String), Vec<DispatchTensor>)>) {
        self.fresh.extend(states);
    }

    fn commit(&mut self) {
        self.kept.extend(self.fresh.drain());
    }

    /// All states, of a round in progress too.
    pub fn into_all(mut self) -> impl Iterator<Item = ((usize, String), Vec<DispatchTensor>)> {
        self.commit();
        self.kept.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use fedround_exec::tensor::{from_floats, read};

    use super::*;

    fn state(x: f32) -> Vec<DispatchTensor> {
        vec![from_floats(vec![x], &[1], &Default::default())]
    }

    #[test]
    fn a_failed_round_leaves_states_as_they_were() {
        let key = |k: usize| (k, "c".to_owned());
        let mut all = State::default();
        let value = |all: &State, k: usize| {
            let kept = all.clients.get(&key(k))?;
            kept.first().map(|t| read(t.clone()).unwrap()[0])
        };
        all.clients
            .extend(vec![(key(0), state(1.0)), (key(1), state(2.0))]);
        all.commit();
        all.clients
            .extend(vec![(key(1), state(3.0)), (key(2), state(4.0))]);
        assert_eq!(
            [0, 1, 2].map(|k| value(&all, k)),
            [Some(1.0), Some(3.0), Some(4.0)]
        );
        all.undo(HashMap::new());
        assert_eq!(
            [0, 1, 2].map(|k| value(&all, k)),
            [Some(1.0), Some(2.0), None]
        );
        assert_eq!(all.clients.into_all().count(), 2);
    }
}
