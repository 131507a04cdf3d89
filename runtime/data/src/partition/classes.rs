//! Partitions by class: each client holds some classes, or more of one class.

use super::PartitionError;
use super::pool::{Draw, Pool, Stratum, even};

/// Client `i` has the `i mod C`-th of the classes in random order.
pub(super) fn islands(pool: &Pool) -> Result<Vec<Vec<usize>>, PartitionError> {
    let classes = pool.by_class().into_iter().enumerate();
    let classes: Vec<_> = classes.filter(|(_, members)| !members.is_empty()).collect();
    let order = pool.permutation(classes.len(), Draw::Order, 0);
    let chosen = order.iter().take(pool.clients).enumerate();
    let strata: Vec<_> = chosen
        .map(|(at, &i)| {
            let (class, members) = &classes[i];
            let holders = (at..pool.clients).step_by(classes.len()).collect();
            Stratum::class(*class, members.clone(), holders)
        })
        .collect();
    pool.share(&strata)
}

pub(super) fn classes(pool: &Pool, per_client: usize) -> Result<Vec<Vec<usize>>, PartitionError> {
    at_most(per_client, pool.classes)?;
    let mut holders = vec![Vec::new(); pool.classes];
    for client in 0..pool.clients {
        let own = client % pool.classes;
        let order = pool.permutation(pool.classes, Draw::Classes, client);
        let others = order.into_iter().filter(|&class| class != own);
        for class in std::iter::once(own).chain(others).take(per_client) {
            holders[class].push(client);
        }
    }
    pool.share(&strata(pool, holders))
}

/// The share of clients that hold each of ten labels, in percent (AdFL, table 1).
const ADFL: [f64; 10] = [3.5, 4.5, 10.0, 21.0, 21.0, 20.0, 10.0, 4.5, 3.5, 2.0];

pub(super) fn labels(
    pool: &Pool,
    per_client: usize,
    weights: Option<&[f64]>,
) -> Result<Vec<Vec<usize>>, PartitionError> {
    let weights = weights.unwrap_or(&ADFL);
    if weights.len() != pool.classes {
        return Err(PartitionError::Weights {
            classes: pool.classes,
            found: weights.len(),
        });
    }
    at_most(per_client, weights.iter().filter(|w| **w > 0.0).count())?;
    let mut holders = vec![Vec::new(); pool.classes];
    for client in 0..pool.clients {
        for class in draw(pool, weights, client).into_iter().take(per_client) {
            holders[class].push(client);
        }
    }
    let mut strata = strata(pool, holders);
    let held = strata.iter().filter(|s| !s.holders.is_empty());
    let fewest = held.map(|s| s.members.len() / s.holders.len()).min();
    for stratum in &mut strata {
        stratum.most = fewest.unwrap_or(0);
    }
    pool.share(&strata)
}

/// A weighted draw of all classes without replacement: the order of exponential times whose rates are the
/// weights (Efraimidis and Spirakis, 2006). Classes of weight 0 come last.
fn draw(pool: &Pool, weights: &[f64], client: usize) -> Vec<usize> {
    let mut stream = Draw::Classes.key(pool.seed).with(client).stream();
    let times: Vec<f64> = weights
        .iter()
        .map(|weight| -(1.0 - stream.unit()).ln() / weight)
        // Zero divided by zero, for a draw of 0 with a weight of 0.
        .map(|time| if time.is_nan() { f64::INFINITY } else { time })
        .collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
    order
}

pub(super) fn subset(pool: &Pool, share: f64) -> Result<Vec<Vec<usize>>, PartitionError> {
    let mut parts = vec![Vec::new(); pool.clients];
    for (class, members) in pool.by_class().into_iter().enumerate() {
        let own = |client: &usize| client % pool.classes == class;
        let (mut own, mut others): (Vec<_>, Vec<_>) = (0..pool.clients).partition(own);
        if own.is_empty() {
            // A class that dominates at no client is shared by all.
            std::mem::swap(&mut own, &mut others);
        }
        let dominant = match others.is_empty() {
            true => members.len(),
            false => (share * members.len() as f64).round() as usize,
        };
        let order = pool.permutation(members.len(), Draw::Stratum, class);
        for (holders, examples) in [(own, &order[..dominant]), (others, &order[dominant..])] {
            for (&client, piece) in holders.iter().zip(even(examples.len(), holders.len())) {
                parts[client].extend(examples[piece].iter().map(|&i| members[i]));
            }
        }
    }
    match parts.iter().any(Vec::is_empty) {
        true => Err(PartitionError::Empty {
            clients: pool.clients,
            examples: pool.len(),
        }),
        false => Ok(parts),
    }
}

fn at_most(per_client: usize, classes: usize) -> Result<(), PartitionError> {
    if per_client > classes {
        return Err(PartitionError::TooManyClasses {
            per_client,
            classes,
        });
    }
    Ok(())
}

/// Each class with its holders, `[classes]`.
fn strata(pool: &Pool, holders: Vec<Vec<usize>>) -> Vec<Stratum> {
    let classes = pool.by_class().into_iter().zip(holders).enumerate();
    classes
        .map(|(class, (members, holders))| Stratum::class(class, members, holders))
        .collect()
}
