//! Examples that clients share (`shared`).

use std::collections::HashSet;

use super::PartitionError;
use super::pool::{Draw, Pool};

/// Draws the examples of each client from all of them (Floyd's algorithm: as many draws as examples,
/// none of them twice).
pub(super) fn shared(pool: &Pool, per_client: usize) -> Result<Vec<Vec<usize>>, PartitionError> {
    let examples = pool.len();
    if per_client > examples {
        return Err(PartitionError::TooFewToShare {
            per_client,
            examples,
        });
    }
    let part = |client: usize| {
        let mut stream = Draw::Shared.key(pool.seed).with(client).stream();
        let mut known = HashSet::with_capacity(per_client);
        let draw = |last: usize| {
            let drawn = stream.below(last + 1);
            let new = if known.insert(drawn) { drawn } else { last };
            known.insert(new);
            new
        };
        (examples - per_client..examples).map(draw).collect()
    };
    let mut parts = vec![];
    let clients = pool.clients;
    let room = parts.try_reserve_exact(clients);
    room.map_err(|_| PartitionError::Memory { clients })?;
    parts.extend((0..clients).map(part));
    Ok(parts)
}
