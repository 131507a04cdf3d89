//! Sampling of cohorts, and the order in which a client visits its examples.

use fedround_random::{LocalEpoch, Purpose, StreamKey, first_permuted, permutation};

/// The position of a round in passes over all clients. Each pass visits the clients in a random order, with equally
/// many clients in each round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// The number of earlier passes.
    pub number: usize,
    /// The number of earlier rounds in this pass.
    pub position: usize,
}

impl Pass {
    /// The position of a round, which counts from 1, with `m` clients in each round. If fewer than `m` clients are
    /// left at the end of a pass, they take no part in it.
    pub fn of(round: usize, clients: usize, m: usize) -> Self {
        let (before, length) = (round.saturating_sub(1), length(clients, m));
        Self {
            number: before / length,
            position: before % length,
        }
    }
}

/// The number of rounds in a pass, at least one.
fn length(clients: usize, m: usize) -> usize {
    (clients / m.max(1)).max(1)
}

/// The cohort of a round of a pass: `m` clients of the pass's random order, or all clients if `m` is larger.
pub fn reshuffled(seed: u64, pass: Pass, clients: usize, m: usize) -> Vec<usize> {
    let key = StreamKey::new(seed, Purpose::Reshuffling).with(pass.number);
    let before = pass.position * m;
    first_permuted(clients, before.saturating_add(m), key).split_off(before)
}

/// Samples `m` of `0..clients` without replacement: the first `m` of a random permutation, or all
/// clients if `m` is larger. `draw` counts the samples of the round from 0.
pub fn cohort(seed: u64, round: usize, draw: usize, clients: usize, m: usize) -> Vec<usize> {
    let key = StreamKey::new(seed, Purpose::Cohort).with(round);
    // The first draw uses the round's key itself; only further draws add their number.
    let key = if draw == 0 { key } else { key.with(draw) };
    first_permuted(clients, m, key)
}

/// The clients that take part, if each does so independently with its own probability.
pub fn bernoulli(key: StreamKey, ids: &[usize], p: &[f64]) -> Vec<usize> {
    let clients = ids.iter().zip(p);
    let drawn = clients.filter(|(id, p)| key.with(**id).stream().unit() < **p);
    drawn.map(|(id, _)| *id).collect()
}

/// Draws `m` clients without replacement, each with probability proportional to its score among the clients that are
/// left. Clients whose score is 0 or less are never drawn. The result is in the order of the draws.
///
/// Each client gets an exponentially distributed time whose rate is its score, and the `m` clients with the shortest
/// times are drawn. Among the clients that are left, the next one is then any of them with probability proportional
/// to its rate (Efraimidis and Spirakis 2006, "Weighted random sampling with a reservoir").
pub fn by_scores(key: StreamKey, ids: &[usize], scores: &[f64], m: usize) -> Vec<usize> {
    let positive = ids.iter().zip(scores).filter(|(_, score)| **score > 0.0);
    let times = positive.map(|(&id, score)| {
        let unit = key.with(id).stream().unit();
        (-(1.0 - unit).ln() / score, id)
    });
    let mut times: Vec<(f64, usize)> = times.collect();
    times.sort_by(|(a, i), (b, j)| a.total_cmp(b).then(i.cmp(j)));
    times.into_iter().take(m).map(|(_, id)| id).collect()
}

/// The cohort of round `round` if `dropped` of its `m` clients leave at random after each round and as
/// many of the other clients join (fewer if there are fewer).
pub fn rotating(
    seed: u64,
    round: usize,
    clients: usize,
    (m, dropped): (usize, usize),
) -> Vec<usize> {
    let mut chosen = cohort(seed, 0, 0, clients, m);
    for t in 1..=round {
        let mut is_chosen = vec![false; clients];
        chosen.iter().for_each(|&k| is_chosen[k] = true);
        let mut rest: Vec<usize> = (0..clients).filter(|&k| !is_chosen[k]).collect();
        let d = dropped.min(chosen.len()).min(rest.len());
        let key = StreamKey::new(seed, Purpose::Rotation).with(t);
        let come = first_permuted(rest.len(), d, key.with(1));
        for (go, come) in first_permuted(chosen.len(), d, key.with(0))
            .into_iter()
            .zip(come)
        {
            std::mem::swap(&mut chosen[go], &mut rest[come]);
        }
    }
    chosen
}

/// The client's `examples` in the order in which it visits them in local epoch `epoch` of round
/// `round`. Batches are consecutive pieces of it.
pub fn client_order(
    seed: u64,
    round: usize,
    client: usize,
    examples: &[usize],
    epoch: impl Into<LocalEpoch>,
) -> Vec<usize> {
    let epoch = epoch.into();
    let key = StreamKey::new(seed, Purpose::ExampleOrder)
        .with(round)
        .with(client);
    // The first epoch uses the key of the round and client itself; only further epochs add their number.
    let key = if epoch.is_first() {
        key
    } else {
        key.with_epoch(epoch)
    };
    let order = permutation(examples.len(), key);
    order.into_iter().map(|i| examples[i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fedround_data::Partition;
    use fedround_random::SEED;

    #[test]
    fn cohorts_are_those_of_the_benchmarks() {
        // lr-mnist (1000 clients), then 2nn-mnist (100).
        assert_eq!(
            cohort(SEED, 1, 0, 1000, 10),
            [271, 739, 569, 275, 311, 560, 80, 855, 489, 482]
        );
        assert_eq!(
            cohort(SEED, 1, 0, 100, 10),
            [80, 10, 88, 96, 87, 32, 63, 54, 45, 56]
        );
        assert_eq!(
            cohort(SEED, 20, 0, 100, 10),
            [49, 82, 13, 51, 8, 14, 60, 38, 98, 81]
        );
    }

    #[test]
    fn a_cohort_is_never_larger_than_everyone() {
        let mut all = cohort(1, 1, 0, 4, 9);
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
    }

    #[test]
    fn a_rotating_cohort_keeps_all_but_the_dropped() {
        let of = |round, m, dropped| rotating(3, round, 12, (m, dropped));
        for (m, dropped, stay) in [
            (5, 2, 3),
            (5, 0, 5),
            (5, 5, 0),
            (5, 9, 0),
            (10, 4, 8),
            (12, 3, 12),
        ] {
            for round in 1..20 {
                let (last, now) = (of(round - 1, m, dropped), of(round, m, dropped));
                let mut each = now.clone();
                each.sort_unstable();
                each.dedup();
                assert_eq!(each.len(), m);
                let stayed = now.iter().filter(|k| last.contains(k)).count();
                assert_eq!(stayed, stay, "{m} {dropped}");
            }
        }
    }

    #[test]
    fn each_client_is_in_one_cohort_of_a_pass_at_most() {
        for (clients, m, length) in [(12, 3, 4), (12, 5, 2), (7, 7, 1), (4, 9, 1), (9, 1, 9)] {
            let mut orders = vec![];
            for number in 0..3 {
                let rounds = (0..length).flat_map(|position| {
                    let pass = Pass::of(1 + number * length + position, clients, m);
                    assert_eq!(pass, Pass { number, position });
                    let cohort = reshuffled(3, pass, clients, m);
                    assert_eq!(cohort.len(), m.min(clients));
                    cohort
                });
                let all: Vec<usize> = rounds.collect();
                let mut each = all.clone();
                each.sort_unstable();
                each.dedup();
                assert_eq!(each.len(), all.len(), "{clients} {m}");
                orders.push(all);
            }
            assert!(orders[0] != orders[1] || orders[1] != orders[2]);
        }
    }

    /// The counts of 20,000 draws.
    fn counts(clients: usize, draw: impl Fn(StreamKey) -> Vec<usize>) -> Vec<f64> {
        let mut counts = vec![0.0; clients];
        for i in 0..20_000 {
            for id in draw(StreamKey::root(3).with(i)) {
                counts[id] += 1.0 / 20_000.0;
            }
        }
        counts
    }

    #[test]
    fn clients_are_drawn_in_proportion_to_their_scores() {
        let ids = [0, 1, 2, 3];
        let first = counts(4, |key| by_scores(key, &ids, &[1.0, 2.0, 5.0, 0.0], 1));
        for (found, expected) in first.iter().zip([0.125, 0.25, 0.625, 0.0]) {
            assert!((found - expected).abs() < 0.015, "{first:?}");
        }
        // Without replacement: P(0) = 1/8 + 2/8·1/6 + 5/8·1/3.
        let both = counts(4, |key| by_scores(key, &ids, &[1.0, 2.0, 5.0, -1.0], 2));
        let expected = 1.0 / 8.0 + 2.0 / 48.0 + 5.0 / 24.0;
        assert!((both[0] - expected).abs() < 0.015, "{both:?}");
        assert_eq!(by_scores(StreamKey::root(1), &ids, &[0.0; 4], 3), [0; 0]);
    }

    #[test]
    fn equal_scores_draw_uniformly() {
        let ids: Vec<usize> = (0..10).collect();
        let found = counts(10, |key| by_scores(key, &ids, &[0.7; 10], 3));
        // Chi-squared of 9 degrees of freedom is above 27.9 once in a thousand times.
        let expected = 0.3 * 20_000.0;
        let chi: f64 = found
            .iter()
            .map(|p| (p * 20_000.0 - expected).powi(2) / expected)
            .sum();
        assert!(chi < 27.9, "{found:?}");
    }

    #[test]
    fn clients_take_part_each_with_its_own_probability() {
        let ids = [4, 2, 0];
        let found = counts(5, |key| bernoulli(key, &ids, &[0.2, 1.0, 0.0]));
        assert!((found[4] - 0.2).abs() < 0.015, "{found:?}");
        assert!(
            (found[2] - 1.0).abs() < 1e-9 && found[0] == 0.0,
            "{found:?}"
        );
        // A client's draw does not depend on who else is there.
        let key = StreamKey::root(8);
        let all = bernoulli(key, &[0, 1, 2, 3], &[0.5; 4]);
        let some = bernoulli(key, &[1, 3], &[0.5; 2]);
        assert_eq!(
            some,
            all.into_iter().filter(|k| k % 2 == 1).collect::<Vec<_>>()
        );
    }

    #[test]
    fn batches_are_those_of_the_benchmarks() {
        let parts = Partition::Iid.split(&[0; 60_000], 1, 1000, SEED).unwrap();
        let order = client_order(SEED, 1, 271, &parts[271], 0);
        assert_eq!(
            order[..10],
            [
                58564, 46425, 7198, 4913, 42235, 8153, 17266, 35321, 22509, 23335
            ]
        );
        assert_eq!(order[57..], [20330, 56410, 21997]);
    }

    #[test]
    fn epochs_and_rounds_have_orders_of_their_own() {
        let examples: Vec<usize> = (100..150).collect();
        let orders = [(1, 0), (1, 1), (1, 2), (2, 0)]
            .map(|(round, epoch)| client_order(7, round, 3, &examples, epoch));
        for (i, order) in orders.iter().enumerate() {
            assert!(orders[..i].iter().all(|other| other != order));
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, examples);
        }
    }
}
