//! Label and quantity skew from Dirichlet draws.

use std::collections::BTreeMap;

use super::pool::{Draw, Pool};
use super::{Partition, PartitionError};
use fedround_random::{Stream, permutation};

/// A draw is cheap (a number per class and client). Skewed settings such as 100 clients at alpha 0.1 need
/// several draws until no client is too small.
const TRIES: usize = 1000;
const MIN: usize = 10;

/// Deals each of `strata` by shares that are drawn for it. `partition` is named in errors.
///
/// Shares are drawn anew until every client has the least number of examples. If all draws fail, it depends on
/// who chose that number: a `min` of the user is an error, and the default is met by [`fill_up`].
pub(super) fn split(
    pool: &Pool,
    strata: &[Vec<usize>],
    partition: &Partition,
    alpha: f64,
    min: Option<usize>,
) -> Result<Vec<Vec<usize>>, PartitionError> {
    let Pool { clients, seed, .. } = *pool;
    let share = pool.len() / clients;
    let chosen = min;
    let min = min.unwrap_or(MIN.min(share / 4).max(1));
    if min > share {
        return Err(PartitionError::Minimum {
            clients,
            min,
            examples: pool.len(),
        });
    }
    // The draw whose smallest client is the largest, and the size of that client.
    let mut best = (0, None);
    for attempt in 0..TRIES {
        let cuts = draw(strata, clients, alpha, seed, attempt);
        let size = |client: usize| {
            cuts.iter()
                .map(|c| c[client + 1] - c[client])
                .sum::<usize>()
        };
        let smallest = (0..clients).map(size).min().unwrap_or(0);
        if smallest >= min {
            return Ok(deal(strata, &cuts, clients, seed));
        }
        if best.1.is_none() || smallest > best.0 {
            best = (smallest, Some(cuts));
        }
    }
    let (best, cuts) = best;
    if let (None, Some(cuts)) = (chosen, cuts) {
        let mut parts = deal(strata, &cuts, clients, seed);
        // Clients of a partition by quantity differ in size only.
        let by_label = !matches!(partition, Partition::Quantity { .. });
        fill_up(&mut parts, by_label.then_some(pool.labels), min);
        return Ok(parts);
    }
    Err(PartitionError::GaveUp {
        partition: partition.clone(),
        clients,
        tries: TRIES,
        best,
        min,
    })
}

/// The places at which each class is cut, `[classes][clients + 1]`, from 0 to the size of the class.
fn draw(
    by_class: &[Vec<usize>],
    clients: usize,
    alpha: f64,
    seed: u64,
    attempt: usize,
) -> Vec<Vec<usize>> {
    let examples: usize = by_class.iter().map(Vec::len).sum();
    let mut sizes = vec![0; clients];
    let mut cuts = Vec::with_capacity(by_class.len());
    for (class, members) in by_class.iter().enumerate() {
        let key = Draw::Weights.key(seed).with(attempt).with(class);
        let mut stream = key.stream();
        let logs: Vec<f64> = (0..clients)
            .map(|_| log_gamma_draw(alpha, &mut stream))
            .collect();
        // A client that has more than its fair share gets no more. The usual implementations close a client
        // that has exactly as much, too. At least one client has no more than that.
        let open = |client: usize| sizes[client] * clients <= examples;
        let most = (0..clients)
            .filter(|&c| open(c))
            .map(|c| logs[c])
            .fold(f64::MIN, f64::max);
        let weight = |c: usize| if open(c) { (logs[c] - most).exp() } else { 0.0 };
        let weights: Vec<f64> = (0..clients).map(weight).collect();
        let total: f64 = weights.iter().sum();
        let mut cut = vec![0];
        let mut sum = 0.0;
        for (client, weight) in weights.iter().enumerate() {
            sum += weight;
            // Rounding must neither lose the last example nor step backwards.
            let end = if client + 1 == clients {
                members.len()
            } else {
                (sum / total * members.len() as f64) as usize
            };
            cut.push(end.min(members.len()));
            sizes[client] += cut[client + 1] - cut[client];
        }
        cuts.push(cut);
    }
    cuts
}

fn deal(
    by_class: &[Vec<usize>],
    cuts: &[Vec<usize>],
    clients: usize,
    seed: u64,
) -> Vec<Vec<usize>> {
    let mut parts = vec![Vec::new(); clients];
    for (class, (members, cut)) in by_class.iter().zip(cuts).enumerate() {
        let key = Draw::Members.key(seed).with(class);
        let order = permutation(members.len(), key);
        for (client, part) in parts.iter_mut().enumerate() {
            part.extend(
                order[cut[client]..cut[client + 1]]
                    .iter()
                    .map(|&i| members[i]),
            );
        }
    }
    parts
}

/// Gives clients with fewer than `min` examples some of the largest client. With `labels`, they are of the class
/// that this one has most of, so that both stay as skewed as they can. Without, they are its first ones, which are
/// of any class because parts are shuffled.
fn fill_up(parts: &mut [Vec<usize>], labels: Option<&[u16]>, min: usize) {
    while let Some(small) = (0..parts.len()).find(|&client| parts[client].len() < min) {
        let sizes = || (0..parts.len()).map(|client| (parts[client].len(), client));
        let Some((size, large)) = sizes().max().filter(|(size, _)| *size > min) else {
            return;
        };
        let most = labels.and_then(|labels| most_frequent(&parts[large], labels));
        let wanted = (min - parts[small].len()).min(size - min);
        let mut moved = vec![];
        parts[large].retain(|&example| {
            let fits = labels.is_none_or(|labels| Some(labels[example]) == most);
            let moves = fits && moved.len() < wanted;
            if moves {
                moved.push(example);
            }
            !moves
        });
        parts[small].extend(moved);
    }
}

/// The class that a part has most examples of.
fn most_frequent(part: &[usize], labels: &[u16]) -> Option<u16> {
    let mut counts = BTreeMap::<u16, usize>::new();
    for &example in part {
        *counts.entry(labels[example]).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(class, _)| class)
}

/// The logarithm of a Gamma(`alpha`, 1) draw (Marsaglia and Tsang, 2000). For
/// small alpha most draws are far below the smallest `f64`, hence the logarithm.
fn log_gamma_draw(alpha: f64, words: &mut Stream) -> f64 {
    if alpha < 1.0 {
        // Gamma(a) = Gamma(a + 1) * U^(1/a)
        let boost = (1.0 - words.unit()).ln() / alpha;
        return log_gamma_draw(alpha + 1.0, words) + boost;
    }
    let d = alpha - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = words.normal();
        let v = (1.0 + c * x).powi(3);
        if v <= 0.0 {
            continue;
        }
        let u = 1.0 - words.unit();
        if u.ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d.ln() + v.ln();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_draws_have_the_right_mean_and_variance() {
        for alpha in [0.3, 1.0, 4.5] {
            let mut stream = fedround_random::StreamKey::root(1).with(9).stream();
            let draws: Vec<f64> = (0..40_000)
                .map(|_| log_gamma_draw(alpha, &mut stream).exp())
                .collect();
            let mean = draws.iter().sum::<f64>() / draws.len() as f64;
            let variance =
                draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / draws.len() as f64;
            assert!(
                (mean / alpha - 1.0).abs() < 0.03,
                "mean {mean} at alpha {alpha}"
            );
            assert!(
                (variance / alpha - 1.0).abs() < 0.1,
                "variance {variance} at alpha {alpha}"
            );
        }
    }

    #[test]
    fn the_default_minimum_is_always_met() {
        // 100 clients of 2,000 examples: no draw at this alpha has 5 examples for each.
        let labels: Vec<u16> = (0..2000).map(|i| (i % 10) as u16).collect();
        for seed in 1..4 {
            let dealt = |text: &str| {
                let partition: Partition = text.parse().unwrap();
                partition.split(&labels, 10, 100, seed)
            };
            let parts = dealt("dirichlet:0.02").unwrap();
            assert!(parts.iter().all(|part| part.len() >= 5), "seed {seed}");
            let mut all = parts.concat();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..2000));
            let error = dealt("dirichlet:0.02:5").unwrap_err();
            assert!(matches!(error, PartitionError::GaveUp { .. }), "{error}");
        }
    }

    /// Most of the clients are filled up, with five examples of ten classes each.
    #[test]
    fn clients_that_are_filled_up_have_several_labels() {
        let labels: Vec<u16> = (0..2000).map(|i| (i % 10) as u16).collect();
        let partition: Partition = "quantity:0.02".parse().unwrap();
        let parts = partition.split(&labels, 10, 100, 1).unwrap();
        assert!(parts.iter().all(|part| part.len() >= 5));
        assert!(parts.iter().filter(|part| part.len() == 5).count() > 50);
        let counts = crate::partition::class_counts(&parts, &labels, 10);
        let alike = |counts: &&Vec<usize>| counts.iter().filter(|&&n| n > 0).count() < 2;
        assert!(counts.iter().filter(alike).count() < 5);
    }

    #[test]
    fn tiny_alphas_give_whole_classes_away() {
        let labels: Vec<u16> = (0..1000).map(|i| (i % 10) as u16).collect();
        let partition = Partition::Dirichlet {
            alpha: 1e-6,
            min: None,
        };
        let parts = partition.split(&labels, 10, 2, 3).unwrap();
        for counts in crate::partition::class_counts(&parts, &labels, 10) {
            assert!(counts.iter().all(|&n| n == 0 || n == 100), "{counts:?}");
        }
    }
}
