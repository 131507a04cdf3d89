//! Equal shares of shuffled examples (`iid`) and of sorted ones (`shards`).

use super::PartitionError;
use super::pool::{Pool, even};
use fedround_random::{Purpose, StreamKey, permutation};

pub(super) fn iid(pool: &Pool) -> Vec<Vec<usize>> {
    let order = permutation(pool.len(), StreamKey::new(pool.seed, Purpose::Partition));
    let shares = even(pool.len(), pool.clients);
    shares.map(|share| order[share].to_vec()).collect()
}

pub(super) fn shards(pool: &Pool, per_client: usize) -> Result<Vec<Vec<usize>>, PartitionError> {
    let total = pool.clients.saturating_mul(per_client);
    if total > pool.len() {
        return Err(PartitionError::TooManyShards {
            clients: pool.clients,
            per_client,
            total,
            examples: pool.len(),
        });
    }
    let mut by_label = pool.all();
    by_label.sort_by_key(|&i| pool.labels[i]);
    let shards: Vec<_> = even(pool.len(), total).collect();
    let dealt = permutation(total, StreamKey::new(pool.seed, Purpose::Partition));
    let deal = |hand: &[usize]| {
        hand.iter()
            .flat_map(|&s| &by_label[shards[s].clone()])
            .copied()
            .collect()
    };
    Ok(dealt.chunks(per_client).map(deal).collect())
}
