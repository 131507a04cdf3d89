//! Partitions by group: each client holds groups of the dataset, such as domains or writers.

use super::PartitionError;
use super::pool::{Draw, Pool, Stratum, even};

pub(super) fn domains(
    pool: &Pool,
    parts: Option<usize>,
    most: Option<usize>,
) -> Result<Vec<Vec<usize>>, PartitionError> {
    let groups = by_group(pool);
    let (clients, count) = (pool.clients, groups.len());
    if clients % count != 0 {
        return Err(PartitionError::NotAMultiple {
            clients,
            groups: count,
        });
    }
    let holders = clients / count;
    let pieces = parts.unwrap_or(holders);
    if pieces < holders {
        return Err(PartitionError::TooFewParts {
            parts: pieces,
            clients,
            groups: count,
        });
    }
    // Dealt in turn, so that a client has the same part whatever the number of clients after it.
    let stratum = |(at, (group, members))| Stratum {
        kind: "group",
        index: group,
        members,
        holders: (at..clients).step_by(count).collect(),
        pieces,
        most: most.unwrap_or(usize::MAX),
    };
    let strata: Vec<_> = groups.into_iter().enumerate().map(stratum).collect();
    pool.share(&strata)
}

pub(super) fn groups(pool: &Pool) -> Result<Vec<Vec<usize>>, PartitionError> {
    let groups = enough(pool)?;
    let order = pool.permutation(groups.len(), Draw::Order, 0);
    let hand =
        |hand: std::ops::Range<usize>| order[hand].iter().flat_map(|&g| &groups[g].1).copied();
    let hands = even(groups.len(), pool.clients);
    Ok(hands.map(|range| hand(range).collect()).collect())
}

pub(super) fn natural(pool: &Pool) -> Result<Vec<Vec<usize>>, PartitionError> {
    let groups = enough(pool)?;
    let mut chosen = pool.permutation(groups.len(), Draw::Order, 0);
    chosen.truncate(pool.clients);
    // In the order of the dataset, so that with all groups client k is group k.
    chosen.sort_unstable();
    Ok(chosen.into_iter().map(|g| groups[g].1.clone()).collect())
}

/// The groups that have examples. There are at least as many as clients.
fn enough(pool: &Pool) -> Result<Vec<(usize, Vec<usize>)>, PartitionError> {
    let groups = by_group(pool);
    if groups.len() < pool.clients {
        return Err(PartitionError::TooFewGroups {
            clients: pool.clients,
            groups: groups.len(),
        });
    }
    Ok(groups)
}

/// The groups that have examples, with their numbers. That the pool has groups, its caller has checked.
fn by_group(pool: &Pool) -> Vec<(usize, Vec<usize>)> {
    let groups = pool.groups.unwrap_or_default();
    let mut members = vec![Vec::new(); groups.iter().max().map_or(0, |&g| g as usize + 1)];
    for (example, &group) in groups.iter().enumerate() {
        members[group as usize].push(example);
    }
    let members = members.into_iter().enumerate();
    members.filter(|(_, members)| !members.is_empty()).collect()
}
