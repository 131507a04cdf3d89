//! Exchanges values between clients: decides who sends to whom, and mixes the values that arrive.

use std::collections::BTreeMap;
use std::sync::Arc;

use fedround_exec::tensor::read_all;
use fedround_ir::fed::{Op, Reduce, Topology};
use fedround_random::{Purpose, StreamKey};

use super::server::Server;
use crate::aggregate::reduction::{Reduction, bytes};
use crate::context::missing;
use crate::error::RunError;
use crate::value::{Env, RtVal};

/// For each receiver, the clients whose values it has, with their weights; its own is among them.
type Weights = Vec<BTreeMap<usize, f64>>;

impl Server<'_> {
    /// `fed.mix`, of all operands along the same edges.
    pub(crate) fn mix(
        &mut self,
        op: &Op,
        topology: Topology,
        env: &mut Env,
    ) -> Result<(), RunError> {
        let mut weights = None;
        for (operand, result) in op.operands.iter().zip(&op.results) {
            let (ids, values) = match env.peek(*operand) {
                Some(RtVal::Clients(ids, values)) => (Arc::clone(ids), values.clone()),
                Some(RtVal::Broadcast(ids, value)) => {
                    (Arc::clone(ids), vec![value.as_ref().clone(); ids.len()])
                }
                _ => return Err(missing(op, "value of each client")),
            };
            let weights = &*weights.get_or_insert_with(|| {
                let key = self.cx.key(Purpose::Topology).with(self.mixes);
                weights_of(topology, ids.len(), self.cx.round.saturating_sub(1), key)
            });
            let mut mixed = Vec::with_capacity(ids.len());
            for (i, from) in weights.iter().enumerate() {
                let mut sum = Reduction::new(Reduce::Sum, false);
                for (&j, &weight) in from {
                    let value = values
                        .get(j)
                        .ok_or_else(|| missing(op, "value of each client"))?;
                    // What a client weighs its own value by does not cross.
                    if i != j {
                        self.stats.bytes_across += bytes(self.cx.program, *operand, value);
                    }
                    sum.add(value, Some(&RtVal::Host(weight)))?;
                }
                mixed.push(sum.finish(self.cx.program, op)?);
            }
            env.set(*result, RtVal::Clients(ids, mixed));
        }
        self.mixes += 1;
        Ok(())
    }

    /// `fed.consensus`: the mean, and how far the clients are from it.
    pub(crate) fn consensus(&mut self, op: &Op, env: &Env) -> Result<RtVal, RunError> {
        let Some(RtVal::Clients(_, values)) = env.peek(op.operands[0]) else {
            return Err(missing(op, "parameters of each client"));
        };
        let mut mean = Reduction::new(Reduce::Mean, false);
        values.iter().try_for_each(|value| mean.add(value, None))?;
        let mean = mean.finish(self.cx.program, op)?;
        let centre = read_all(mean.tensors().to_vec())?.concat();
        let mut square = 0.0;
        for value in values {
            let own = read_all(value.tensors().to_vec())?.concat();
            let differences = own
                .iter()
                .zip(&centre)
                .map(|(x, y)| f64::from(*x) - f64::from(*y));
            square += differences.map(|d| d * d).sum::<f64>();
        }
        self.stats.consensus = Some(square / values.len().max(1) as f64);
        Ok(mean)
    }
}

/// The weights of a topology over so many clients in round `t`, from 0.
fn weights_of(topology: Topology, clients: usize, t: usize, key: StreamKey) -> Weights {
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

/// To whom a client sends. In small cohorts that may be the same client twice, or itself.
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
            // As square as it can be.
            let columns = (1..=clients).filter(|c| clients.is_multiple_of(*c));
            let columns = columns.min_by_key(|c| c.abs_diff(clients / c)).unwrap_or(1);
            let (row, column) = (from / columns * columns, from % columns);
            let beside = |steps: usize| row + (column + steps) % columns;
            vec![
                beside(1),
                beside(columns - 1),
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
    }
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

    #[test]
    fn every_topology_preserves_the_sum_and_all_but_random_ones_the_mean() {
        for topology in Topology::ALL {
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
        for topology in Topology::ALL {
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
}
