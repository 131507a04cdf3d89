//! The weights of clients in means that the server weighs itself, as in AdFL.

use std::collections::BTreeMap;

use fedround_ir::fed::{FedOp, Module, Op, OpKind, Reduce, Region, Value};
use fedround_simulation::ServerObservation;
use serde::Serialize;

/// A line of `weights.csv`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Weight {
    pub round: usize,
    /// The line of the spec that takes the mean.
    pub mean: String,
    pub client: usize,
    /// Its part of the mean: those of a round add up to 1.
    pub share: f64,
}

/// The parts of a mean over all rounds.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Weighing {
    pub mean: String,
    pub rounds: usize,
    /// The mean over rounds of the number of clients.
    pub clients: f64,
    /// The smallest weight in a round times the number of its clients: 1 where all weigh alike.
    pub least: f64,
    /// The largest weight, in the same way.
    pub most: f64,
}

/// The parts of clients in a round's mean; none where a weight is of something else, or where weights
/// have no sum to be parts of.
pub(super) fn weights(
    round: usize,
    value: Value,
    seen: &[ServerObservation],
    module: &Module,
) -> Vec<Weight> {
    let mut bodies = module.funcs.iter().map(|f| &f.body);
    let Some(mean) = bodies.find_map(|body| mean_of(body, value)) else {
        return vec![];
    };
    let number = |seen: &ServerObservation| Some(f64::from(*seen.tensors.first()?.values.first()?));
    let numbers = seen.iter().filter_map(|s| Some((s.client, number(s)?)));
    let numbers: Vec<(usize, f64)> = numbers.collect();
    let sum: f64 = numbers.iter().map(|(_, w)| w).sum();
    if sum == 0.0 || !sum.is_finite() {
        return vec![];
    }
    let weight = |(client, weight): (usize, f64)| Weight {
        round,
        mean: format!("mean at {}", mean.loc),
        client,
        share: weight / sum,
    };
    numbers.into_iter().map(weight).collect()
}

/// The mean whose weights are a value.
fn mean_of(region: &Region, weight: Value) -> Option<&Op> {
    region.ops.iter().find_map(|op| {
        let is_mean = op.kind == OpKind::Fed(FedOp::Reduce(Reduce::WeightedMean));
        if is_mean && op.operands.get(1) == Some(&weight) {
            return Some(op);
        }
        op.regions.iter().find_map(|inner| mean_of(inner, weight))
    })
}

/// Over the rounds, for each mean.
pub(super) fn weighings(weights: &[Weight]) -> Vec<Weighing> {
    let mut rounds: BTreeMap<(&str, usize), Vec<f64>> = BTreeMap::new();
    for w in weights {
        rounds.entry((&w.mean, w.round)).or_default().push(w.share);
    }
    let mut means: BTreeMap<&str, Vec<[f64; 3]>> = BTreeMap::new();
    for ((mean, _), shares) in rounds {
        let m = shares.len() as f64;
        let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
        let most = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        means
            .entry(mean)
            .or_default()
            .push([m, m * least, m * most]);
    }
    let weighing = |(mean, rounds): (&str, Vec<[f64; 3]>)| {
        let over = |i: usize| rounds.iter().map(|r| r[i]).sum::<f64>() / rounds.len() as f64;
        Weighing {
            mean: mean.to_owned(),
            rounds: rounds.len(),
            clients: over(0),
            least: over(1),
            most: over(2),
        }
    };
    means.into_iter().map(weighing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_against_equal_ones() {
        let weight = |round, client, share| Weight {
            round,
            mean: "mean at a.rs:1".into(),
            client,
            share,
        };
        let all = [
            weight(1, 0, 0.5),
            weight(1, 1, 0.5),
            weight(2, 0, 0.2),
            weight(2, 2, 0.8),
        ];
        let found = &weighings(&all)[0];
        assert_eq!((found.rounds, found.clients), (2, 2.0));
        assert!((found.least - 0.7).abs() < 1e-12, "{found:?}");
        assert!((found.most - 1.3).abs() < 1e-12, "{found:?}");
    }
}
