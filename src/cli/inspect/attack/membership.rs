//! Membership inference: which examples was a model trained on?

use fedround_algorithms::Centralized;
use fedround_data::rng::permutation;
use fedround_data::{Column, Examples};
use fedround_metrics::classification::roc_auc;
use serde::Serialize;

use super::{Known, Pool};
use crate::cli::error::CliError;
use crate::cli::inspect::Subject;
use crate::cli::inspect::measure::spaced;
use crate::cli::inspect::models::{failed, inputs, outputs, with_leaves};
use crate::cli::inspect::specs::Outputs;

/// Examples that a shadow model is trained on, and rounds of its training.
const EXAMPLES: usize = 600;
const ROUNDS: usize = 4;
/// The key of the order in which examples are halved.
const HALVES: u64 = 62;

/// How well it was told who was trained on.
#[derive(Clone, Debug, Serialize)]
pub(in crate::cli::inspect) struct Membership {
    /// What the shadow model was trained on.
    pub shared: String,
    /// Of the clients' examples, the share that is told to be theirs.
    pub recall: f64,
    /// Of what is told to be theirs, the share that is; the test set has as many examples.
    pub precision: f64,
    /// The ROC AUC of the largest probability.
    pub auc: f64,
}

impl Subject<'_> {
    /// Tells the model's training examples from test examples as a shadow model's are told.
    pub(super) fn tell_members(&self, known: &Known, pool: &Pool) -> Result<Membership, CliError> {
        let n = (known.indices.len() / 2).min(EXAMPLES);
        let threshold = self.shadow(known, pool, n)?;
        // The model itself: its clients' examples, and as many that nobody had.
        let (examples, test) = (&self.simulation.federation().examples, &self.data.test);
        let m = n.min(test.len());
        let own = spaced(known.indices.len(), m);
        let own: Vec<usize> = own.iter().map(|&i| known.indices[i]).collect();
        let mut x = inputs(examples, &own)?;
        x.extend(inputs(test, &spaced(test.len(), m))?);
        let x = Column::floats("x", known.shape.to_vec(), x)?;
        let both = Examples::of_columns(vec![x], vec![0_u16; 2 * m])?;
        let mut target = self.simulate(&Outputs::default(), both, halves(m), None)?;
        with_leaves(&mut target, &self.simulation.parameters());
        let (scores, inside) = self.confidence(&outputs(&mut target)?);
        let told = |member: bool| {
            let both = scores.iter().zip(&inside);
            let found = both.filter(|(s, i)| **s >= threshold && **i == member);
            found.count() as f64
        };
        Ok(Membership {
            shared: pool.name.clone(),
            recall: told(true) / m as f64,
            precision: told(true) / (told(true) + told(false)),
            auc: roc_auc(&scores, &inside)?,
        })
    }

    /// Trains a shadow model on `n` of what was shared; the probability that best tells these from
    /// as many others.
    fn shadow(&self, known: &Known, pool: &Pool, n: usize) -> Result<f64, CliError> {
        let width: usize = known.shape.iter().product();
        let federation = self.simulation.federation();
        let order = permutation(federation.seed, known.indices.len(), &[HALVES]);
        let rows = &order[..2 * n];
        let values = rows.iter().map(|&i| &pool.rows[i * width..(i + 1) * width]);
        let values: Vec<f32> = values.flatten().copied().collect();
        let label = |i: &usize| federation.examples.labels()[known.indices[*i]];
        let labels: Vec<u16> = rows.iter().map(label).collect();
        let x = Column::floats("x", known.shape.to_vec(), values)?;
        let both = Examples::of_columns(vec![x], labels)?;
        let trains = Centralized::default();
        let mut shadow = self.simulate(&trains, both.clone(), halves(n), None)?;
        for _ in 0..ROUNDS {
            shadow.step().map_err(failed)?;
        }
        let mut looks = self.simulate(&Outputs::default(), both, halves(n), None)?;
        with_leaves(&mut looks, &shadow.parameters());
        let (scores, inside) = self.confidence(&outputs(&mut looks)?);
        Ok(threshold(&scores, &inside))
    }

    /// The largest probability of each example, and whether it is of the first client.
    fn confidence(&self, logits: &[Vec<f32>]) -> (Vec<f64>, Vec<bool>) {
        let (mut scores, mut inside) = (vec![], vec![]);
        for (k, logits) in logits.iter().enumerate() {
            for row in logits.chunks(self.data.classes.max(1)) {
                let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let sum: f64 = row.iter().map(|z| f64::from(z - top).exp()).sum();
                scores.push(1.0 / sum);
                inside.push(k == 0);
            }
        }
        (scores, inside)
    }
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
    fn a_threshold_parts_members_from_others() {
        let scores = [0.9, 0.8, 0.7, 0.6, 0.5];
        let inside = [true, true, false, true, false];
        assert_eq!(threshold(&scores, &inside), 0.8);
        assert_eq!(threshold(&[0.5, 0.5], &[true, false]), f64::INFINITY);
    }
}
