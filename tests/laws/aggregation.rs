//! Laws of aggregation rules that look at all clients' values at once.

use fedround::algorithms::FedAvg;
use fedround::ir::fed::Kind;
use fedround::prelude::*;
use fedround::simulation::{CohortBatch, Diverged, OnNan, RunError, Simulation};

use crate::common::{assert_close, bits, dealt, digits, run, simulation, weights};

fn base() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        batch: 4,
        ..FedAvg::default()
    }
}

/// A rule of the test's own, over FedAvg.
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// `wᵗ + ½ (1/m Σ w_k − wᵗ)`.
    Half,
    /// The same, from several uploads beside each other.
    HalfZipped,
    /// The median of the numbers of examples, times `wᵗ`.
    MedianCount,
    /// The trimmed mean with a share that the server computes.
    Trimmed,
    /// The geometric median, by steps of Weiszfeld's.
    Geometric,
    /// Each model weighs by the sum of its update's cosines with all updates.
    Cosines,
    /// Each model weighs by what `split` gives back of numbers that `stack` joined.
    Stacked,
    /// `split` of a tensor with too few rows.
    TooFew,
    /// The mean of updates of at most a length of `share`.
    Clipped,
}

/// See [`Rule`].
#[derive(Hyper, Debug, Clone)]
pub struct Ruled<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// The rule.
    #[hyper(default = Rule::Half)]
    pub rule: Rule,
    /// A share, or a length.
    #[hyper(default = 0.25)]
    pub share: f32,
    /// Examples of a client whose update is not finite.
    #[hyper(default = 0)]
    pub bad: usize,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Ruled<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let others = k.num_examples() - self.bad;
        // 0/0 on the bad one.
        others / (k.num_examples() - self.bad) * self.base.client_update(k, w)
    }

    fn aggregate(&self, server: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        let w = server.global_params();
        match self.rule {
            Rule::Half => &w + 0.5 * (w_k.mean() - &w),
            Rule::HalfZipped => {
                let (u_k, a_k, b_k, c_k) = w_k.map(|k, w| {
                    let n = k.num_examples();
                    (w - k.global_params(), n.clone(), 2.0 * &n, -3.0 * n)
                });
                let zero_k = a_k.zip(&b_k).zip(&c_k).map(|_, ((a, b), c)| a + b + c);
                let u_k = u_k
                    .zip(&zero_k.zip(&a_k))
                    .map(|_, (u, (zero, n))| (zero / n + 0.5) * u);
                &w + u_k.mean()
            }
            Rule::MedianCount => {
                let n_k = w_k.map(|k, _| k.num_examples());
                n_k.median() * &w
            }
            Rule::Trimmed => {
                let share = 0.0 * server.num_clients() + self.share;
                w_k.trimmed_mean(&share)
            }
            Rule::Geometric => {
                let w_k = w_k.gather();
                let mut v = w_k.mean();
                for _ in 0..50 {
                    let near_k = w_k.map(|k, w| 1.0 / (w - k.get(&v)).sq_norm().sqrt().max(1e-6));
                    v = w_k.weighted_mean(&near_k);
                }
                v
            }
            Rule::Cosines => {
                let w_k = w_k.gather();
                let cosines = w_k.map(|k, w| w - k.global_params()).cosines();
                let rows_k = w_k.split::<Tensor>(&cosines);
                w_k.weighted_mean(&rows_k.map(|_, row| loss("sum", &row)))
            }
            Rule::Stacked => {
                let (w_k, n_k) = w_k.map(|k, w| (w, k.num_examples()));
                let (w_k, n_k) = (w_k.gather(), n_k.gather());
                w_k.weighted_mean(&w_k.split(&n_k.stack()))
            }
            Rule::TooFew => {
                let few = server.run(|s| s.classes().zero_inputs());
                let w_k = w_k.gather();
                let row_k = w_k.split::<Tensor>(&few);
                w_k.weighted_mean(&row_k.map(|_, x| x.sq_norm()))
            }
            Rule::Clipped => {
                &w + w_k
                    .map(|k, w| (w - k.global_params()).clip(self.share))
                    .mean()
            }
        }
    }
}

fn ruled(rule: Rule) -> Ruled {
    Ruled {
        base: base(),
        rule,
        share: 0.25,
        bad: 0,
    }
}

const SIZES: [usize; 5] = [9, 12, 5, 10, 7];

fn of(algorithm: &dyn Algorithm) -> Simulation {
    let mut end = 0;
    let parts = SIZES.map(|n| {
        end += n;
        (end - n..end).collect()
    });
    let data = digits(50, 10).train;
    simulation(algorithm, "logistic", dealt(&data, parts.to_vec(), 3))
}

/// The models that clients send in a round, and the one that it ends with.
fn round(simulation: &mut Simulation) -> (Vec<Vec<f32>>, Vec<f32>) {
    let mut sent: Vec<Vec<f32>> = vec![];
    let round = simulation.run_round_observed(|seen| {
        if seen.sent && seen.kind == Kind::Params {
            let leaves = seen.tensors.into_iter();
            sent.push(leaves.flat_map(|leaf| leaf.values).collect());
        }
    });
    round.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(sent.len(), SIZES.len());
    (sent, weights(simulation))
}

/// The mean of models by weights.
fn mean(sent: &[Vec<f32>], weight: impl Fn(usize) -> f64) -> Vec<f32> {
    let total: f64 = (0..sent.len()).map(&weight).sum();
    let entry = |i: usize| {
        let each = sent.iter().enumerate();
        let sum: f64 = each.map(|(k, w)| weight(k) * f64::from(w[i])).sum();
        (sum / total) as f32
    };
    (0..sent[0].len()).map(entry).collect()
}

fn difference(a: &[f32], b: &[f32]) -> Vec<f64> {
    let pairs = a.iter().zip(b);
    pairs.map(|(a, b)| f64::from(*a) - f64::from(*b)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn the_start_of_the_round_is_beside_the_uploads() {
    let (mut half, mut zipped) = (of(&ruled(Rule::Half)), of(&ruled(Rule::HalfZipped)));
    for _ in 0..2 {
        let start = weights(&half);
        let (sent, end) = round(&mut half);
        let all = mean(&sent, |_| 1.0);
        let expected: Vec<f32> = start
            .iter()
            .zip(&all)
            .map(|(w, all)| 0.5 * (w + all))
            .collect();
        assert_close(&end, &expected, 1e-6);
        run(&mut zipped, 1);
        assert_close(&weights(&zipped), &end, 1e-6);
    }
}

#[test]
fn numbers_have_medians_too() {
    let mut simulation = of(&ruled(Rule::MedianCount));
    let start = weights(&simulation);
    run(&mut simulation, 1);
    let nine: Vec<f32> = start.iter().map(|w| 9.0 * w).collect();
    assert_eq!(bits(&weights(&simulation)), bits(&nine));
}

#[test]
fn a_share_to_trim_may_be_computed() {
    let (sent, end) = round(&mut of(&ruled(Rule::Trimmed)));
    let entry = |i: usize| {
        let mut values: Vec<f32> = sent.iter().map(|w| w[i]).collect();
        values.sort_by(f32::total_cmp);
        values[1..4].iter().sum::<f32>() / 3.0
    };
    let expected: Vec<f32> = (0..end.len()).map(entry).collect();
    assert_close(&end, &expected, 1e-6);
}

#[test]
fn a_geometric_median_is_a_loop() {
    let (sent, end) = round(&mut of(&ruled(Rule::Geometric)));
    // There the directions to all models add up to nothing.
    let mut pull = vec![0.0; end.len()];
    for w in &sent {
        let towards = difference(w, &end);
        let length = dot(&towards, &towards).sqrt();
        pull.iter_mut()
            .zip(towards)
            .for_each(|(p, x)| *p += x / length);
    }
    let (left, all) = (dot(&pull, &pull).sqrt(), sent.len() as f64);
    assert!(left < 1e-2 * all, "{left}");
    let plain = mean(&sent, |_| 1.0);
    assert!(dot(&difference(&plain, &end), &difference(&plain, &end)) > 1e-8);
}

#[test]
fn models_weigh_by_similarities_of_all() {
    let mut simulation = of(&ruled(Rule::Cosines));
    let start = weights(&simulation);
    let (sent, end) = round(&mut simulation);
    let updates: Vec<Vec<f64>> = sent.iter().map(|w| difference(w, &start)).collect();
    let cosine = |a: &[f64], b: &[f64]| dot(a, b) / (dot(a, a) * dot(b, b)).sqrt();
    let weight = |k: usize| updates.iter().map(|u| cosine(&updates[k], u)).sum();
    let all: Vec<f64> = (0..sent.len()).map(weight).collect();
    assert_close(&end, &mean(&sent, |k| all[k]), 1e-6);
    assert!((all[0] - all[1]).abs() > 1e-3, "{all:?}");
}

#[test]
fn what_stack_joins_split_takes_apart() {
    let (_, joined) = round(&mut of(&ruled(Rule::Stacked)));
    let (_, plain) = round(&mut of(&base()));
    assert_eq!(bits(&joined), bits(&plain));
}

#[test]
fn updates_are_clipped_before_they_are_averaged() {
    let clipped = Ruled {
        share: 0.01,
        ..ruled(Rule::Clipped)
    };
    let mut simulation = of(&clipped);
    let start = weights(&simulation);
    run(&mut simulation, 1);
    let moved = difference(&weights(&simulation), &start);
    let length = dot(&moved, &moved).sqrt();
    assert!(length > 0.001 && length < 0.01 + 1e-6, "{length}");
}

#[test]
fn groups_workers_and_checkpoints_do_not_matter() {
    for rule in [Rule::Trimmed, Rule::Cosines, Rule::Geometric] {
        let grouped = |n| of(&ruled(rule)).with_cohort_batch(CohortBatch::Clients(n));
        let (mut alone, mut three) = (grouped(1), grouped(3));
        run(&mut alone, 1);
        let saved = alone.save().unwrap();
        run(&mut alone, 1);
        run(&mut three, 2);
        assert_close(&weights(&three), &weights(&alone), 1e-5);
        let mut restored = grouped(1);
        restored.restore(&saved).unwrap();
        run(&mut restored, 1);
        assert_eq!(bits(&weights(&restored)), bits(&weights(&alone)));
    }
}

fn error(algorithm: &dyn Algorithm) -> String {
    of(algorithm).run_round().unwrap_err().to_string()
}

#[test]
fn what_cannot_be_done_is_said() {
    let half = Ruled {
        share: 0.5,
        ..ruled(Rule::Trimmed)
    };
    let trimmed = error(&half);
    assert!(
        trimmed.contains("give one from 0 to below 0.5"),
        "{trimmed}"
    );
    let split = error(&ruled(Rule::TooFew));
    let expected = "`split` gives each of 5 clients a row";
    assert!(
        split.contains(expected) && split.contains("[10, 1, 28, 28]"),
        "{split}"
    );
}

/// No rule hides an update that is not finite: it is left out or ends the round, as it would of a mean.
#[test]
fn updates_that_are_not_finite_are_found() {
    for rule in [Rule::Trimmed, Rule::Cosines, Rule::Stacked] {
        let poisoned = |bad| Ruled { bad, ..ruled(rule) };
        let mut simulation = of(&poisoned(7)).with_on_nan(OnNan::Skip);
        let stats = run(&mut simulation, 1);
        assert_eq!(stats.not_finite, [4], "{rule:?}");
        assert!(weights(&simulation).iter().all(|x| x.is_finite()));
        let stopped = of(&poisoned(7)).with_on_nan(OnNan::Stop).run_round();
        let Err(RunError::Diverged { what, .. }) = stopped else {
            panic!("{rule:?}: expected an error");
        };
        assert_eq!(what, Diverged::Clients(vec![4]), "{rule:?}");
    }
}
