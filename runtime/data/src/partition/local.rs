//! Training, validation and test examples of each client.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::pool::{Draw, Pool};
use super::{Partition, PartitionError, Rotation};
use crate::Dataset;
use fedround_random::permutation;

/// The examples of one client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Indices of [`Dataset::train`]; at least one.
    pub train: Vec<usize>,
    /// Indices of [`Dataset::train`] that the client holds but does not train on.
    pub validation: Vec<usize>,
    /// Indices of [`Dataset::test`] that are distributed like the client's training examples. Empty if
    /// there are too few test examples for the number of clients.
    pub test: Vec<usize>,
    /// The rotation of the client's training and test images, which [`Rotation::turned`] applies.
    pub rotation: Option<Rotation>,
}

impl Partition {
    /// Deals the training examples of `data` to `clients`. Each client also gets test examples whose
    /// labels (or groups, if the partition goes by groups) are distributed like those of its training
    /// examples. There are no validation examples; see [`hold_out`].
    ///
    /// A test example goes to one client, or to none if no client trains on its label or group. A client
    /// gets the same share of a label's test examples as of its training examples that clients hold, rounded. Of labels
    /// with fewer than two test examples for each client, it gets its share of all together, rounded.
    /// Where a partition leaves out more examples of some labels than of others, as `labels:K` does, a
    /// client's test examples therefore have its labels in other proportions than its training examples.
    ///
    /// # Errors
    /// The errors of [`split`](Self::split), and a partition by groups of a dataset without groups.
    ///
    /// # Paper
    /// LG-FedAvg, Section 4: train and test data of a device have matching distributions.
    pub fn deal(
        &self,
        data: &Dataset,
        clients: usize,
        seed: u64,
    ) -> Result<Vec<Split>, PartitionError> {
        let parts = self.assign(&Pool {
            labels: data.train.labels(),
            classes: data.classes,
            groups: data.groups.as_deref(),
            clients,
            seed,
        })?;
        let tests = match (&data.groups, &data.test_groups) {
            (Some(train), Some(test)) if self.by_groups() => matching(&parts, train, test, seed),
            _ => matching(&parts, data.train.labels(), data.test.labels(), seed),
        };
        let mut splits: Vec<Split> = parts
            .into_iter()
            .zip(tests)
            .map(|(train, test)| Split {
                train,
                test,
                ..Split::default()
            })
            .collect();
        if let (Self::Rotated { rotation, .. }, Some(last)) = (self, splits.last_mut()) {
            last.rotation = Some(*rotation);
        }
        Ok(splits)
    }
}

/// A test example in the unit in which [`matching`] counts what a client is owed.
const ONE: i64 = 1 << 32;

/// Deals test examples by key. Each client gets a share of the examples with a key in proportion to its
/// training examples with that key, among those of all clients. Where there are fewer than two examples of a key for each
/// client with it, an example goes to the client that is owed most, by its shares of such keys so far.
fn matching<K: Copy + Ord + Into<u64>>(
    parts: &[Vec<usize>],
    train: &[K],
    test: &[K],
    seed: u64,
) -> Vec<Vec<usize>> {
    let mut holders: BTreeMap<K, Vec<(usize, u128)>> = BTreeMap::new();
    for (client, part) in parts.iter().enumerate() {
        let mut counts: BTreeMap<K, u128> = BTreeMap::new();
        for &example in part {
            *counts.entry(train[example]).or_default() += 1;
        }
        for (key, count) in counts {
            holders.entry(key).or_default().push((client, count));
        }
    }
    let mut strata: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for (example, key) in test.iter().enumerate() {
        strata.entry(*key).or_default().push(example);
    }
    let mut tests = vec![Vec::new(); parts.len()];
    let mut owed = vec![0_i64; parts.len()];
    for (key, members) in strata {
        let Some(holders) = holders.get(&key) else {
            continue;
        };
        let stream = Draw::LocalTest.key(seed).with(key.into() as usize);
        let order = permutation(members.len(), stream);
        let total: u128 = holders.iter().map(|(_, count)| count).sum();
        if members.len() < 2 * holders.len() {
            for &(client, count) in holders {
                owed[client] += (members.len() as u128 * count * ONE as u128 / total) as i64;
            }
            let holders = holders.iter().map(|(client, _)| *client);
            for (i, client) in order.into_iter().zip(owed_most(&mut owed, holders)) {
                tests[client].push(members[i]);
            }
            continue;
        }
        // Shares rounded down favour later clients, by less than one example of a key each.
        let (mut sum, mut start) = (0, 0);
        for &(client, count) in holders {
            sum += count;
            let end = (sum * members.len() as u128 / total) as usize;
            tests[client].extend(order[start..end].iter().map(|&i| members[i]));
            start = end;
        }
    }
    tests
}

/// Without end, which of these clients is owed most. Each time, one example less is owed to it from then on.
fn owed_most(
    owed: &mut [i64],
    clients: impl Iterator<Item = usize>,
) -> impl Iterator<Item = usize> {
    let with_debt = clients.map(|client| (owed[client], Reverse(client)));
    let mut by_debt: BinaryHeap<_> = with_debt.collect();
    std::iter::from_fn(move || {
        let mut most = by_debt.peek_mut()?;
        most.0 -= ONE;
        let (debt, Reverse(client)) = *most;
        owed[client] = debt;
        Some(client)
    })
}

/// Moves a random `fraction` of each client's training examples, rounded, to its validation examples. At
/// least one training example stays.
///
/// # Errors
/// `fraction` is not in `[0, 1)`, or a client has validation examples already.
pub fn hold_out(splits: &mut [Split], fraction: f64, seed: u64) -> Result<(), PartitionError> {
    if !(0.0..1.0).contains(&fraction) {
        return Err(PartitionError::Fraction { fraction });
    }
    let held = splits.iter().position(|split| !split.validation.is_empty());
    if let Some(client) = held {
        return Err(PartitionError::HeldOut { client });
    }
    for (client, split) in splits.iter_mut().enumerate() {
        let n = split.train.len();
        let count = ((fraction * n as f64).round() as usize).min(n.saturating_sub(1));
        let key = Draw::Validation.key(seed).with(client);
        let mut held = vec![false; n];
        for i in permutation(n, key).into_iter().take(count) {
            held[i] = true;
        }
        let mut held = held.into_iter();
        let (validation, train) = std::mem::take(&mut split.train)
            .into_iter()
            .partition(|_| held.next() == Some(true));
        (split.train, split.validation) = (train, validation);
    }
    Ok(())
}
