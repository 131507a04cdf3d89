//! The state that an algorithm keeps between rounds, on the server and for each client.
//!
//! A round that fails leaves the state as it was before. States of clients are in memory up to a
//! budget, and beyond it in a file: see [`ClientStates`].

mod client_states;
mod file;
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

pub use client_states::ClientMemory;
pub(crate) use client_states::ClientStates;
pub(crate) use in_flight::{Flight, InFlight};
pub(crate) use resident::{Key, Side};

/// By the name that the spec gives it.
#[derive(Clone)]
pub(crate) struct State {
    pub server: HashMap<String, Vec<DispatchTensor>>,
    /// Clients that train while rounds go by.
    pub in_flight: InFlight,
    pub clients: ByClient,
    /// What the server keeps for each client.
    pub for_clients: ByClient,
}

impl Default for State {
    fn default() -> Self {
        let kept = Arc::<ClientStates>::default();
        let of = |side| ByClient {
            side,
            fresh: HashMap::new(),
            kept: Arc::clone(&kept),
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
    /// The values that may be new in the round in progress.
    pub fn set_in_round(&self) -> impl Iterator<Item = &DispatchTensor> {
        let own = [&self.clients, &self.for_clients].into_iter();
        let own = own.flat_map(|states| states.fresh.values());
        self.server.values().chain(own).flatten()
    }

    /// Ends a round: its states are kept. What goes to the file is written while the next round runs.
    pub fn commit(&mut self) {
        let [clients, server] = [&mut self.clients, &mut self.for_clients].map(|own| {
            let side = own.side;
            let fresh = own.fresh.drain();
            fresh.map(move |((client, name), tensors)| (Key { side, client, name }, tensors))
        });
        let fresh = clients.chain(server).collect();
        self.clients.kept.commit(fresh);
    }

    /// Forgets the states of a round that failed; `server` are the server's before it, and who was in flight
    /// then.
    pub fn undo(&mut self, server: (HashMap<String, Vec<DispatchTensor>>, InFlight)) {
        (self.server, self.in_flight) = server;
        self.clients.fresh.clear();
        self.for_clients.fresh.clear();
    }

    /// The clients' states of complete rounds.
    pub fn of_clients(&self) -> &Arc<ClientStates> {
        &self.clients.kept
    }
}

/// A state with its client and name.
pub(crate) type ClientState = ((usize, String), Vec<DispatchTensor>);

/// States by client and name. Those of the round in progress are apart, so that a round costs what
/// its cohort does, however many clients have states. Clones share the states of complete rounds.
#[derive(Clone)]
pub(crate) struct ByClient {
    side: Side,
    fresh: HashMap<(usize, String), Vec<DispatchTensor>>,
    kept: Arc<ClientStates>,
}

impl ByClient {
    /// A client's state, which may have to be read from the file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is damaged.
    pub fn get(&self, key: &(usize, String)) -> Result<Option<Vec<DispatchTensor>>, RunError> {
        match self.fresh.get(key) {
            Some(fresh) => Ok(Some(fresh.clone())),
            None => self.kept.get(self.key(key.0, &key.1)),
        }
    }

    /// Sets states in the round in progress.
    pub fn extend(&mut self, states: Vec<ClientState>) {
        self.fresh.extend(states);
    }

    /// Forgets what the round in progress set for some clients.
    pub fn forget(&mut self, clients: &[usize]) {
        self.fresh
            .retain(|(client, _), _| !clients.contains(client));
    }

    /// Does work that reads states of these names of these clients, in this order. Those that are in
    /// the file are read meanwhile, on a thread of their own.
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
        self.kept.reading_ahead(keys, work)
    }

    /// The states that the round in progress has set, which are not kept yet.
    pub fn fresh(&self) -> impl Iterator<Item = (&(usize, String), &Vec<DispatchTensor>)> {
        self.fresh.iter()
    }

    /// The states that the round in progress has set.
    pub fn into_fresh(self) -> impl Iterator<Item = ((usize, String), Vec<DispatchTensor>)> {
        self.fresh.into_iter()
    }

    fn key(&self, client: usize, name: &str) -> Key {
        Key {
            side: self.side,
            client,
            name: name.to_owned(),
        }
    }
}
