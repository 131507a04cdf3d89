//! The topologies of `fed.mix`: which clients send to which others, and with which weights.

use std::collections::{BTreeMap, BTreeSet};

use fedround_exec::tensor::from_floats;
use fedround_ir::fed::Topology;
use fedround_random::{Stream, StreamKey, permutation};

use crate::context::RoundContext;
use crate::value::RuntimeValue;

/// For each receiver, the positions of the clients whose values it receives, with their weights. Its own value is
/// among them.
pub(super) type Weights = Vec<BTreeMap<usize, f64>>;

/// The number of swaps that randomise a regular graph, for each of its edges.
const SWAPS: usize = 10;

/// A constant matrix, as a tensor of the server.
pub(super) fn matrix(cx: RoundContext<'_>, columns: usize, entries: &[f64]) -> RuntimeValue {
    let shape = [entries.len() / columns.max(1), columns];
    let entries = entries.iter().map(|x| *x as f32).collect();
    RuntimeValue::Tensor(from_floats(entries, &shape, cx.program.device()))
}

/// The weights of a topology over `clients` clients in round `t`, which counts from 0.
pub(super) fn weights_of(topology: Topology, clients: usize, t: usize, key: StreamKey) -> Weights {
    match topology {
        Topology::Pairs => return regular(1, clients, key),
        Topology::Regular(degree) => return regular(degree, clients, key),
        _ => {}
    }
    let mut weights: Weights = vec![BTreeMap::new(); clients];
    let mut stream = key.stream();
    for from in 0..clients {
        let to = receivers(topology, (from, clients), t, || stream.below(clients - 1));
        let share = 1.0 / (to.len() + 1) as f64;
        for receiver in to.into_iter().chain([from]) {
            *weights[receiver].entry(from).or_default() += share;
        }
    }
    weights
}

/// The positions of the clients to which a client sends. In small cohorts, a client may send to another one twice,
/// or to itself.
fn receivers(
    topology: Topology,
    (from, clients): (usize, usize),
    t: usize,
    mut other: impl FnMut() -> usize,
) -> Vec<usize> {
    let after = |steps: usize| (from + steps) % clients;
    match topology {
        Topology::Ring => vec![after(1), after(clients - 1)],
        Topology::Torus => {
            // The most nearly square grid of this many clients.
            let columns = (1..=clients).filter(|c| clients.is_multiple_of(*c));
            let columns = columns.min_by_key(|c| c.abs_diff(clients / c)).unwrap_or(1);
            let (row, column) = (from / columns * columns, from % columns);
            let in_row = |steps: usize| row + (column + steps) % columns;
            vec![
                in_row(1),
                in_row(columns - 1),
                after(columns),
                after(clients - columns),
            ]
        }
        Topology::Complete => (0..clients).filter(|to| *to != from).collect(),
        Topology::Exponential => {
            let hops = clients.next_power_of_two().trailing_zeros().max(1);
            vec![after(1 << (t as u32 % hops))]
        }
        Topology::Random => vec![after(1 + other())],
        // `weights_of` and `weights_of_matrix` compute the weights of these directly.
        Topology::Pairs | Topology::Regular(_) | Topology::Matrix => vec![],
    }
}

/// Weights of `1/(degree + 1)` in both directions of each edge of a random graph. Each client's own value has the
/// remaining weight.
fn regular(degree: usize, clients: usize, key: StreamKey) -> Weights {
    let degree = degree.min(clients.saturating_sub(1));
    let share = 1.0 / (degree + 1) as f64;
    let mut weights: Weights = vec![BTreeMap::new(); clients];
    let order = permutation(clients, key.with(0));
    for (a, b) in regular_edges(degree, clients, &mut key.with(1).stream()) {
        let (a, b) = (order[a], order[b]);
        weights[a].insert(b, share);
        weights[b].insert(a, share);
    }
    for (i, from) in weights.iter_mut().enumerate() {
        from.insert(i, 1.0 - share * from.len() as f64);
    }
    weights
}

/// The edges of a random graph in which every vertex has `degree` neighbours, fewer than there are vertices. If no
/// such graph exists, some vertices have one neighbour fewer.
///
/// It starts from a fixed graph, and then swaps the ends of random pairs of edges, which changes no degree (Rao, Jana
/// and Bandyopadhyay 1996).
fn regular_edges(degree: usize, vertices: usize, stream: &mut Stream) -> Vec<(usize, usize)> {
    let edge = |a: usize, b: usize| (a.min(b), a.max(b));
    // In the fixed graph, the vertices form a circle. Neighbours are at most `degree / 2` steps away; if the degree
    // is odd, the vertex across the circle is another one.
    let mut edges = BTreeSet::new();
    for step in 1..=degree / 2 {
        edges.extend((0..vertices).map(|a| edge(a, (a + step) % vertices)));
    }
    if degree % 2 == 1 {
        let across = match vertices % 2 {
            0 => vertices / 2,
            _ => degree / 2 + 1,
        };
        let mut free = vec![true; vertices];
        for a in 0..vertices {
            let b = (a + across) % vertices;
            if free[a] && free[b] {
                (free[a], free[b]) = (false, false);
                edges.insert(edge(a, b));
            }
        }
    }
    let mut all: Vec<(usize, usize)> = edges.iter().copied().collect();
    for _ in 0..if all.len() > 1 { SWAPS * all.len() } else { 0 } {
        let (i, j) = (stream.below(all.len()), stream.below(all.len()));
        let ((a, b), (c, d)) = (all[i], all[j]);
        let (c, d) = if stream.below(2) == 0 { (c, d) } else { (d, c) };
        let (first, second) = (edge(a, d), edge(c, b));
        let are_new = !edges.contains(&first) && !edges.contains(&second);
        if a != d && c != b && first != second && are_new {
            edges.remove(&all[i]);
            edges.remove(&all[j]);
            edges.extend([first, second]);
            (all[i], all[j]) = (first, second);
        }
    }
    all
}

/// The weights of the clients at some rows (`positions`) of a square matrix of `n` rows. The weights of clients that
/// are absent go to each client's own value. The error is the first row that does not sum to 1, and its sum.
pub(super) fn weights_of_matrix(
    matrix: &[f32],
    n: usize,
    positions: &[usize],
) -> Result<Weights, (usize, f32)> {
    let rows = positions.iter().enumerate().map(|(i, &row)| {
        let entries = matrix.get(row * n..(row + 1) * n).unwrap_or_default();
        let sum: f32 = entries.iter().sum();
        if sum.is_nan() || (sum - 1.0).abs() > 1e-4 {
            return Err((row, sum));
        }
        let of = |position: &usize| f64::from(entries.get(*position).copied().unwrap_or_default());
        let others = positions.iter().map(of).enumerate();
        let mut from: BTreeMap<usize, f64> = others.filter(|(j, w)| *j != i && *w != 0.0).collect();
        from.insert(i, 1.0 - from.values().sum::<f64>());
        Ok(from)
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(t: usize) -> StreamKey {
        StreamKey::root(5).with(t)
    }

    /// What each client sends and keeps, in all.
    fn sent(weights: &Weights) -> Vec<f64> {
        let of = |j: usize| weights.iter().filter_map(|from| from.get(&j)).sum();
        (0..weights.len()).map(of).collect()
    }

    /// Every topology that needs no matrix.
    fn drawn() -> impl Iterator<Item = Topology> {
        let given = |topology: &Topology| *topology != Topology::Matrix;
        let others = [1, 3, 4].map(Topology::Regular);
        Topology::ALL.into_iter().filter(given).chain(others)
    }

    #[test]
    fn every_topology_preserves_the_sum_and_all_but_random_ones_the_mean() {
        for topology in drawn() {
            for clients in [1, 2, 3, 4, 6, 7, 12] {
                for t in 0..4 {
                    let weights = weights_of(topology, clients, t, key(t));
                    let close = |x: &f64| (x - 1.0).abs() < 1e-12;
                    assert!(
                        sent(&weights).iter().all(close),
                        "{topology:?} of {clients}"
                    );
                    let received: Vec<f64> = weights.iter().map(|w| w.values().sum()).collect();
                    let stochastic = received.iter().all(close);
                    assert!(stochastic || topology == Topology::Random);
                }
            }
        }
    }

    #[test]
    fn clients_have_as_many_neighbours_as_is_said() {
        for topology in drawn() {
            let weights = weights_of(topology, 12, 1, key(0));
            let edges: usize = weights.iter().map(|from| from.len() - 1).sum();
            let degree = topology.degree().unwrap_or(11);
            assert_eq!(edges, 12 * degree, "{topology:?}");
        }
        let torus = weights_of(Topology::Torus, 12, 0, key(0));
        assert_eq!(
            torus[0].keys().copied().collect::<Vec<_>>(),
            [0, 1, 2, 3, 9]
        );
    }

    #[test]
    fn exponential_rounds_over_a_power_of_two_are_the_mean() {
        let mut values = vec![8.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        for t in 0..3 {
            let weights = weights_of(Topology::Exponential, 8, t, key(0));
            let mixed = weights
                .iter()
                .map(|from| from.iter().map(|(&j, w)| w * values[j]).sum());
            values = mixed.collect();
        }
        assert_eq!(values, vec![1.0; 8]);
    }

    #[test]
    fn random_partners_change() {
        let at = |t| weights_of(Topology::Random, 9, t, key(t));
        assert!((1..5).any(|t| at(t) != at(0)));
        // Some have more than they had, and others less.
        let received: Vec<f64> = at(0).iter().map(|from| from.values().sum()).collect();
        assert!(received.iter().any(|w| *w > 1.1) && received.iter().any(|w| *w < 0.9));
    }

    #[test]
    fn random_graphs_are_undirected_regular_and_of_all_kinds() {
        for (clients, degree) in [(2, 1), (7, 2), (8, 3), (9, 4), (12, 5), (5, 9)] {
            let at = |t| weights_of(Topology::Regular(degree), clients, t, key(t));
            for t in 0..5 {
                let weights = at(t);
                for (i, from) in weights.iter().enumerate() {
                    assert_eq!(
                        from.len(),
                        1 + degree.min(clients - 1),
                        "{clients}, {degree}"
                    );
                    assert!(from.iter().all(|(&j, w)| weights[j].get(&i) == Some(w)));
                }
            }
            let complete = degree >= clients - 1;
            assert_eq!((1..5).all(|t| at(t) == at(0)), complete);
        }
        // Every one of the three pairings of four clients occurs about as often.
        let mut count: BTreeMap<usize, usize> = BTreeMap::new();
        for t in 0..300 {
            let weights = weights_of(Topology::Pairs, 4, t, key(t));
            let partner = weights[0].keys().find(|j| **j > 0);
            *count.entry(*partner.unwrap()).or_default() += 1;
        }
        assert_eq!(count.len(), 3);
        assert!(count.values().all(|n| (70..130).contains(n)), "{count:?}");
    }

    #[test]
    fn an_odd_client_has_a_neighbour_fewer() {
        for (clients, degree) in [(5, 1), (7, 3), (9, 5)] {
            let weights = weights_of(Topology::Regular(degree), clients, 0, key(1));
            let mut degrees: Vec<usize> = weights.iter().map(|from| from.len() - 1).collect();
            degrees.sort_unstable();
            assert!(
                degrees[0] == degree - 1 && degrees.last() == Some(&degree),
                "{degrees:?}"
            );
        }
    }

    #[test]
    fn a_matrix_gives_its_weights_and_those_of_the_missing_stay() {
        let matrix = [0.5, 0.25, 0.25, 0.0, 1.0, 0.0, 0.5, 0.0, 0.5];
        let all = weights_of_matrix(&matrix, 3, &[0, 1, 2]).unwrap();
        assert_eq!(all[0], [(0, 0.5), (1, 0.25), (2, 0.25)].into());
        assert_eq!(all[1], [(1, 1.0)].into());
        let two = weights_of_matrix(&matrix, 3, &[0, 2]).unwrap();
        assert_eq!(
            two,
            [[(0, 0.75), (1, 0.25)].into(), [(0, 0.5), (1, 0.5)].into()]
        );
        let error = weights_of_matrix(&[0.5, 0.4, f32::NAN, 1.0], 2, &[0, 1]).unwrap_err();
        assert_eq!(error, (0, 0.9));
        assert!(weights_of_matrix(&[1.0, 0.0, f32::NAN, 1.0], 2, &[0, 1]).is_err());
    }
}
