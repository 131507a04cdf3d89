//! Finds the clients whose updates are not finite, when a round is repeated for that.

use std::collections::BTreeSet;

use fedround_exec::tensor::all_finite;

use crate::client::Outcome;
use crate::error::RunError;
use crate::value::RtVal;

/// Clients whose losses, results or states are not finite in the first map where any client's are.
///
/// Later maps may read what the first one spoilt, so nobody is blamed there; and nobody is blamed for
/// what the server sent.
#[derive(Default)]
pub(crate) struct NonFiniteClients {
    pub clients: BTreeSet<usize>,
    /// The map that they were found in.
    map: Option<usize>,
    /// Whether the server has sent something that is not finite.
    sent: bool,
}

impl NonFiniteClients {
    /// Looks at what clients are given for a map.
    pub fn given<'v>(&mut self, values: impl Iterator<Item = &'v RtVal>) -> Result<(), RunError> {
        for value in values {
            let shared = match value {
                RtVal::Broadcast(_, value) => value,
                value => value,
            };
            self.sent |= !all_finite(shared.tensors())? || !host_is_finite(shared);
        }
        Ok(())
    }

    /// Looks at what a client gives back of a map.
    pub fn look(&mut self, map: usize, id: usize, outcome: &Outcome) -> Result<(), RunError> {
        if self.sent || self.map.is_some_and(|first| first != map) {
            return Ok(());
        }
        let yields = outcome.yields.iter();
        let state = outcome.state.values().flatten();
        let tensors = yields.clone().flat_map(RtVal::tensors);
        let tensors = tensors.chain(&outcome.losses).chain(state);
        if !outcome.finite || !all_finite(tensors)? || !yields.clone().all(host_is_finite) {
            self.map = Some(map);
            self.clients.insert(id);
        }
        Ok(())
    }
}

fn host_is_finite(value: &RtVal) -> bool {
    match value {
        RtVal::Host(x) => x.is_finite(),
        _ => true,
    }
}
