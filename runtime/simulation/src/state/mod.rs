//! The state that an algorithm keeps between rounds, on the server and for each client.
//!
//! States that a round sets are pending until the round is committed; a round that fails leaves the states as they
//! were. Committed states of clients are in memory up to a budget, and beyond it in a file: see [`CommittedStates`].

mod committed_states;
mod file;
#[cfg(test)]
mod file_tests;
mod in_flight;
mod read_ahead;
mod resident;
#[cfg(test)]
mod tests;
mod writing;

use std::collections::HashMap;
use std::sync::Arc;

use burn::tensor::DispatchTensor;

use crate::error::RunError;

pub use committed_states::ClientMemory;
pub(crate) use committed_states::CommittedStates;
pub(crate) use in_flight::{Dispatched, Flight, InFlight};
pub(crate) use resident::{Key, Side};

/// All states of a simulation.
#[derive(Clone)]
pub(crate) struct State {
    /// The server's states, by name: the tensors of each.
    pub server: HashMap<String, Vec<DispatchTensor>>,
    /// The clients in flight, in asynchronous rounds.
    pub in_flight: InFlight,
    /// The states that clients keep.
    pub clients: PerClientStates,
    /// The states that the server keeps for each client.
    pub for_clients: PerClientStates,
}

impl Default for State {
    fn default() -> Self {
        let committed = Arc::<CommittedStates>::default();
        let of = |side| PerClientStates {
            side,
            pending: HashMap::new(),
            committed: Arc::clone(&committed),
        };
        Self {
            server: HashMap::new(),
            in_flight: InFlight::default(),
            clients: of(Side::Client),
            for_clients: of(Side::Server),
        }
    }
}

impl State {
    /// The tensors of all states that the round in progress may have set.
    pub fn set_in_round(&self) -> impl Iterator<Item = &DispatchTensor> {
        let own = [&self.clients, &self.for_clients].into_iter();
        let own = own.flat_map(|states| states.pending.values());
        self.server.values().chain(own).flatten()
    }

    /// Commits the states of a round. Those that go to the file are written while the next round runs.
    pub fn commit(&mut self) {
        let [clients, server] = [&mut self.clients, &mut self.for_clients].map(|own| {
            let side = own.side;
            let pending = own.pending.drain();
            pending.map(move |((client, name), tensors)| (Key { side, client, name }, tensors))
        });
        let pending = clients.chain(server).collect();
        self.clients.committed.commit(pending);
    }

    /// Discards the states of a round that failed. `before` has the server's states and the clients in flight from
    /// before the round.
    pub fn roll_back(&mut self, before: (HashMap<String, Vec<DispatchTensor>>, InFlight)) {
        (self.server, self.in_flight) = before;
        self.clients.pending.clear();
        self.for_clients.pending.clear();
    }

    /// The clients' states of completed rounds.
    pub fn committed(&self) -> &Arc<CommittedStates> {
        &self.clients.committed
    }
}

/// A state with its client and name.
pub(crate) type ClientState = ((usize, String), Vec<DispatchTensor>);

/// States by client and name. Pending states are kept apart from committed ones, so that the cost of a round depends on
/// its cohort and not on the number of all clients. Clones share the committed states.
#[derive(Clone)]
pub(crate) struct PerClientStates {
    /// Who keeps the states.
    side: Side,
    /// The states that the round in progress has set.
    pending: HashMap<(usize, String), Vec<DispatchTensor>>,
    committed: Arc<CommittedStates>,
}

impl PerClientStates {
    /// A client's state, which may have to be read from the file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is damaged.
    pub fn get(&self, key: &(usize, String)) -> Result<Option<Vec<DispatchTensor>>, RunError> {
        match self.pending.get(key) {
            Some(pending) => Ok(Some(pending.clone())),
            None => self.committed.get(self.key(key.0, &key.1)),
        }
    }

    /// Sets states in the round in progress.
    pub fn extend(&mut self, states: Vec<ClientState>) {
        self.pending.extend(states);
    }

    /// Discards the states that the round in progress has set for some clients.
    pub fn discard_pending(&mut self, clients: &[usize]) {
        self.pending
            .retain(|(client, _), _| !clients.contains(client));
    }

    /// Runs `work`, which reads states of these names for these clients, in this order. Meanwhile another thread reads
    /// those that are in the file.
    pub fn reading_ahead<T>(
        &self,
        clients: &[usize],
        names: &[&str],
        work: impl FnOnce() -> T,
    ) -> T {
        let keys = clients.iter().flat_map(|&client| {
            let names = names.iter();
            names.map(move |name| self.key(client, name))
        });
        self.committed.reading_ahead(keys, work)
    }

    /// The states that the round in progress has set.
    pub fn pending(&self) -> impl Iterator<Item = (&(usize, String), &Vec<DispatchTensor>)> {
        self.pending.iter()
    }

    /// The states that the round in progress has set.
    pub fn into_pending(self) -> impl Iterator<Item = ((usize, String), Vec<DispatchTensor>)> {
        self.pending.into_iter()
    }

    fn key(&self, client: usize, name: &str) -> Key {
        Key {
            side: self.side,
            client,
            name: name.to_owned(),
        }
    }
}
