//! Membership inference: which examples was a model trained on?

use std::collections::{BTreeMap, BTreeSet};

use fedround_algorithms::Centralized;
use fedround_data::{Column, Examples};
use fedround_metrics::classification::roc_auc;
use fedround_random::{Purpose, StreamKey, permutation};
use serde::Serialize;

use super::{Known, Pool};
use crate::error::CliError;
use crate::inspect::leakage::spaced;
use crate::inspect::subject::Subject;

/// Examples that a shadow model is trained on, and rounds of its training.
const EXAMPLES: usize = 600;
const ROUNDS: usize = 4;

/// How well it is told what the model was trained on: examples of clients that sent parameters in the
/// last phase, as against test examples with as many of each label: a client's examples may have few labels, and
/// some labels are recognised better than others whether a model was trained on them or not.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Membership {
    /// How many of these examples.
    pub members: usize,
    /// The ROC AUC of the largest probability, which needs no threshold.
    pub auc: f64,
    /// By thresholds of shadow models.
    pub told: Vec<Told>,
    /// The largest probabilities, and whose are members'.
    #[serde(skip)]
    scores: (Vec<f64>, Vec<bool>),
}

/// The same by a threshold.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Told {
    /// What the shadow model was trained on.
    pub by: String,
    /// The share of the members that is told to be some.
    pub recall: f64,
    /// The share of what is told to be a member that is one.
    pub precision: f64,
}

impl Subject<'_> {
    /// The model's probabilities of examples that it was trained on, and of as many that nobody had;
    /// nothing where none of the clients in `known` sent a model in the last phase.
    pub(super) fn members(&self, known: &Known) -> Result<Option<Membership>, CliError> {
        let (examples, test) = (
            &self.run.simulation().dataset().examples,
            &self.run.data().test,
        );
        let trained = known.members(&self.observations.trained);
        let all_of_test: Vec<usize> = (0..test.len()).collect();
        let (own, others) = with_equal_labels(
            by_label(examples.labels(), &trained),
            &by_label(test.labels(), &all_of_test),
        );
        let m = own.len();
        if m == 0 {
            return Ok(None);
        }
        let mut x = self.run.inputs(examples, &own)?;
        x.extend(self.run.inputs(test, &others)?);
        let x = Column::floats("x", known.shape.to_vec(), x)?;
        let both = Examples::of_columns(vec![x], vec![0_u16; 2 * m])?;
        let model = self.run.simulation().parameters()?;
        let logits = self.run.outputs("forward", &model, both, halves(m), None)?;
        let scores = self.confidence(&logits);
        Ok(Some(Membership {
            members: m,
            auc: roc_auc(&scores.0, &scores.1)?,
            told: vec![],
            scores,
        }))
    }

    /// Tells members as a shadow model's are told.
    pub(super) fn tell_members(
        &self,
        known: &Known,
        pool: &Pool,
        membership: &mut Membership,
    ) -> Result<(), CliError> {
        let threshold = self.shadow(known, pool, (known.indices.len() / 2).min(EXAMPLES))?;
        let (scores, inside) = &membership.scores;
        let told = |member: bool| {
            let both = scores.iter().zip(inside);
            let found = both.filter(|(s, i)| **s >= threshold && **i == member);
            found.count() as f64
        };
        membership.told.push(Told {
            by: pool.name.clone(),
            recall: told(true) / membership.members as f64,
            precision: told(true) / (told(true) + told(false)),
        });
        Ok(())
    }

    /// Trains a shadow model on `n` of what was shared; the probability that best tells these from
    /// as many others.
    fn shadow(&self, known: &Known, pool: &Pool, n: usize) -> Result<f64, CliError> {
        let width: usize = known.shape.iter().product();
        let dataset = self.run.simulation().dataset();
        let key = StreamKey::new(self.run.simulation().seed(), Purpose::MembershipAttack);
        let order = permutation(known.indices.len(), key);
        let rows = &order[..2 * n];
        let values = rows.iter().map(|&i| &pool.rows[i * width..(i + 1) * width]);
        let values: Vec<f32> = values.flatten().copied().collect();
        let label = |i: &usize| dataset.examples.labels()[known.indices[*i]];
        let labels: Vec<u16> = rows.iter().map(label).collect();
        let x = Column::floats("x", known.shape.to_vec(), values)?;
        let both = Examples::of_columns(vec![x], labels)?;
        let trains = Centralized::default();
        let mut shadow = self.run.simulate(&trains, both.clone(), halves(n), None)?;
        for _ in 0..ROUNDS {
            shadow.run_round()?;
        }
        let model = shadow.parameters()?;
        let logits = self.run.outputs("forward", &model, both, halves(n), None)?;
        let (scores, inside) = self.confidence(&logits);
        Ok(threshold(&scores, &inside))
    }

    /// The largest probability of each example, and whether it is of the first client.
    fn confidence(&self, logits: &[Vec<f32>]) -> (Vec<f64>, Vec<bool>) {
        let (mut scores, mut inside) = (vec![], vec![]);
        for (k, logits) in logits.iter().enumerate() {
            for row in logits.chunks(self.run.data().classes.max(1)) {
                let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let sum: f64 = row.iter().map(|z| f64::from(z - top).exp()).sum();
                scores.push(1.0 / sum);
                inside.push(k == 0);
            }
        }
        (scores, inside)
    }
}

impl Known {
    /// The examples of some clients.
    fn members(&self, of: &BTreeSet<usize>) -> Vec<usize> {
        let own = self.clients.iter().filter(|(k, _)| of.contains(k));
        let own = own.flat_map(|(_, rows)| &self.indices[rows.clone()]);
        own.copied().collect()
    }
}

/// The examples of each label.
fn by_label(labels: &[u16], examples: &[usize]) -> BTreeMap<u16, Vec<usize>> {
    let mut found: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    for &i in examples {
        found.entry(labels[i]).or_default().push(i);
    }
    found
}

/// Members and others, as many of each label, and at most [`EXAMPLES`] of both.
fn with_equal_labels(
    members: BTreeMap<u16, Vec<usize>>,
    others: &BTreeMap<u16, Vec<usize>>,
) -> (Vec<usize>, Vec<usize>) {
    let mut pairs = vec![];
    for (label, members) in members {
        let others = others.get(&label).map_or(&[][..], Vec::as_slice);
        let n = members.len().min(others.len());
        let chosen = spaced(members.len(), n).into_iter().map(|i| members[i]);
        pairs.extend(chosen.zip(spaced(others.len(), n).into_iter().map(|i| others[i])));
    }
    let chosen = spaced(pairs.len(), EXAMPLES).into_iter().map(|i| pairs[i]);
    chosen.unzip()
}

/// The first and the second half of `2 n` examples.
fn halves(n: usize) -> Vec<Vec<usize>> {
    vec![(0..n).collect(), (n..2 * n).collect()]
}

/// The score from which on most are rightly told to be inside, each side counted alike.
fn threshold(scores: &[f64], inside: &[bool]) -> f64 {
    let total = |side: bool| inside.iter().filter(|i| **i == side).count().max(1) as f64;
    let (members, others) = (total(true), total(false));
    let mut all: Vec<(f64, bool)> = scores.iter().copied().zip(inside.iter().copied()).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut best, mut at, mut gain) = (0.0, f64::INFINITY, 0.0);
    for tied in all.chunk_by(|a, b| a.0 == b.0) {
        gain += tied
            .iter()
            .map(|(_, inside)| {
                if *inside {
                    1.0 / members
                } else {
                    -1.0 / others
                }
            })
            .sum::<f64>();
        if gain > best {
            (best, at) = (gain, tied[0].0);
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_others_have_the_same_labels() {
        let members = by_label(&[0, 0, 0, 1, 2], &[0, 1, 2, 3, 4]);
        let others = by_label(&[1, 1, 0, 0, 1], &[0, 1, 2, 3, 4]);
        let (own, others) = with_equal_labels(members, &others);
        assert_eq!((own, others), (vec![0, 1, 3], vec![2, 3, 0]));
        // Of more examples than are looked at, each label keeps its share.
        let labels: Vec<u16> = (0..4 * EXAMPLES).map(|i| u16::from(i % 4 == 0)).collect();
        let all: Vec<usize> = (0..labels.len()).collect();
        let (own, others) = with_equal_labels(by_label(&labels, &all), &by_label(&labels, &all));
        let ones = |chosen: &[usize]| chosen.iter().filter(|&&i| labels[i] == 1).count();
        assert_eq!((own.len(), others.len()), (EXAMPLES, EXAMPLES));
        assert_eq!((ones(&own), ones(&others)), (EXAMPLES / 4, EXAMPLES / 4));
    }

    #[test]
    fn a_threshold_parts_members_from_others() {
        let scores = [0.9, 0.8, 0.7, 0.6, 0.5];
        let inside = [true, true, false, true, false];
        assert_eq!(threshold(&scores, &inside), 0.8);
        assert_eq!(threshold(&[0.5, 0.5], &[true, false]), f64::INFINITY);
    }
}
