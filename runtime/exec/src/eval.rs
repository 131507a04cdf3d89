//! Evaluation on held-out examples.

use burn::tensor::DispatchTensor;
use fedround_data::augment::{Augment, Scratch, Visit};
use fedround_data::{Examples, rng};

use crate::error::RunError;
use crate::ops;
use crate::program::Program;
use crate::run::Slots;
use crate::workers::Workers;

/// How a model does on a set of examples.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Mean cross-entropy, in nats.
    pub loss: f64,
    /// Fraction of examples whose largest logit is the label's.
    pub accuracy: f64,
    /// The same for the examples of each class; NaN for a class without examples.
    pub class_accuracy: Vec<f64>,
    /// The class of each example's largest logit, in the order of the examples.
    pub predictions: Vec<u16>,
}

/// Examples a worker evaluates at once.
const CHUNK: usize = 250;

/// Evaluates models in inference, several by the means of their logits, on images that go through
/// the fixed steps of `augment`; chunks of examples run on the workers and are summed in order. The
/// seed and the round are of what a model draws in inference, if anything.
///
/// # Errors
///
/// The model cannot be traced for the batch shape.
pub(crate) fn evaluate(
    program: &Program,
    models: &[&[DispatchTensor]],
    examples: &Examples,
    classes: usize,
    augment: &Augment,
    workers: &Workers,
    (seed, round): (u64, usize),
) -> Result<Evaluation, RunError> {
    let (fixed, visit) = (augment.fixed(), Visit::default());
    let chunks = examples.len().div_ceil(CHUNK);
    let parts = workers.run(chunks, |i| {
        let indices: Vec<usize> = (i * CHUNK..((i + 1) * CHUNK).min(examples.len())).collect();
        let forward = program.forward(indices.len())?;
        let shape = program.tracer.input(indices.len());
        let (mut x, mut y) = (vec![0.0; shape.len()], vec![0; indices.len()]);
        match fixed.is_empty() {
            true => examples.x().gather_into(&indices, &mut x)?,
            false => {
                let scratch = &mut Scratch::default();
                fixed.gather_into(examples.x(), &indices, visit, scratch, &mut x)?;
            }
        }
        examples.gather_labels_into(&indices, &mut y);
        let x = ops::tensor(x, &shape.shape, &program.device);
        let keys = [[rng::EVALUATE, round as u64, i as u64]];
        let supplies = forward.supplies.tensors(seed, &keys, &program.device);
        let supplies: Vec<_> = supplies.collect();
        let slots = &mut Slots::default();
        let mut mean: Vec<f32> = vec![];
        for model in models {
            let inputs = model.iter().chain([&x]).chain(&supplies).cloned();
            let logits = forward.plan.run(&program.device, inputs, slots)?;
            let logits = logits.into_iter().next().map(ops::values);
            add(&mut mean, logits.unwrap_or_default());
        }
        mean.iter_mut().for_each(|z| *z /= models.len() as f32);
        Ok::<_, RunError>(Counts::of(&mean, &y, classes))
    });
    let mut total = Counts::new(classes);
    for part in parts {
        total.add(part?);
    }
    Ok(total.evaluation())
}

/// Adds to a sum, which is empty at first.
fn add(sum: &mut Vec<f32>, more: Vec<f32>) {
    match sum.is_empty() {
        true => *sum = more,
        false => sum.iter_mut().zip(more).for_each(|(a, b)| *a += b),
    }
}

struct Counts {
    loss: f64,
    right: Vec<u64>,
    seen: Vec<u64>,
    predictions: Vec<u16>,
}

impl Counts {
    fn new(classes: usize) -> Self {
        Self {
            loss: 0.0,
            right: vec![0; classes],
            seen: vec![0; classes],
            predictions: vec![],
        }
    }

    fn of(logits: &[f32], labels: &[i32], classes: usize) -> Self {
        let mut this = Self::new(classes);
        for (row, &label) in logits.chunks(classes.max(1)).zip(labels) {
            let label = label as usize;
            let row: Vec<f64> = row.iter().map(|&z| f64::from(z)).collect();
            let mut best = 0;
            for (i, z) in row.iter().enumerate() {
                if *z > row[best] {
                    best = i;
                }
            }
            let norm: f64 = row.iter().map(|z| (z - row[best]).exp()).sum();
            this.loss += norm.ln() + row[best] - row[label];
            this.seen[label] += 1;
            this.right[label] += u64::from(best == label);
            this.predictions.push(best as u16);
        }
        this
    }

    fn add(&mut self, other: Self) {
        self.loss += other.loss;
        for (a, b) in self.right.iter_mut().zip(&other.right) {
            *a += b;
        }
        for (a, b) in self.seen.iter_mut().zip(&other.seen) {
            *a += b;
        }
        self.predictions.extend(other.predictions);
    }

    fn evaluation(self) -> Evaluation {
        let seen = self.seen.iter().sum::<u64>() as f64;
        let classes = self.right.iter().zip(&self.seen);
        Evaluation {
            loss: self.loss / seen,
            accuracy: self.right.iter().sum::<u64>() as f64 / seen,
            class_accuracy: classes.map(|(&r, &s)| r as f64 / s as f64).collect(),
            predictions: self.predictions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_class() {
        let logits = [2.0, 0.0, 0.0, 2.0, 2.0, 0.0];
        let e = Counts::of(&logits, &[0, 1, 1], 2).evaluation();
        assert!((e.accuracy - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(e.class_accuracy, [1.0, 0.5]);
        assert_eq!(e.predictions, [0, 1, 0]);
        let (near, far) = ((1.0 + (-2f64).exp()).ln(), (1.0 + 2f64.exp()).ln());
        assert!((e.loss - (2.0 * near + far) / 3.0).abs() < 1e-12);
    }
}
