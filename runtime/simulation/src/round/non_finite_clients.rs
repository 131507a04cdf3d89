//! Finds the clients whose updates are not finite, when a diverged round is repeated to find them.

use std::collections::BTreeSet;

use fedround_exec::tensor::all_finite;

use crate::client::ClientOutcome;
use crate::error::RunError;
use crate::value::RuntimeValue;

/// The clients whose losses, results or states are not finite in the first map in which any client's are not.
///
/// Clients of later maps are not listed, because they may have read non-finite values of the first one. For the
/// same reason no client is listed once the server has sent a non-finite value.
#[derive(Default)]
pub(crate) struct NonFiniteClients {
    pub clients: BTreeSet<usize>,
    /// The number of the map in which they were found; `None` before any is found.
    map: Option<usize>,
    /// Whether the server has sent a value that is not finite.
    sent_non_finite: bool,
}

impl NonFiniteClients {
    /// Checks the values that the server sends to clients for a map.
    pub fn check_inputs<'v>(
        &mut self,
        values: impl Iterator<Item = &'v RuntimeValue>,
    ) -> Result<(), RunError> {
        for value in values {
            let shared = match value {
                RuntimeValue::Broadcast(_, value) => value,
                value => value,
            };
            self.sent_non_finite |= !all_finite(shared.tensors())? || !host_is_finite(shared);
        }
        Ok(())
    }

    /// Checks a client's outcome of a map.
    pub fn check_outcome(
        &mut self,
        map: usize,
        id: usize,
        outcome: &ClientOutcome,
    ) -> Result<(), RunError> {
        if self.sent_non_finite || self.map.is_some_and(|first| first != map) {
            return Ok(());
        }
        let yields = outcome.yields.iter();
        let state = outcome.state.values().flatten();
        let tensors = yields.clone().flat_map(RuntimeValue::tensors);
        let tensors = tensors.chain(&outcome.losses).chain(state);
        if !outcome.finite || !all_finite(tensors)? || !yields.clone().all(host_is_finite) {
            self.map = Some(map);
            self.clients.insert(id);
        }
        Ok(())
    }
}

fn host_is_finite(value: &RuntimeValue) -> bool {
    match value {
        RuntimeValue::Number(x) => x.is_finite(),
        _ => true,
    }
}
