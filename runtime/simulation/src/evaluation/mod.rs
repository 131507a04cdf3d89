//! Loss and accuracy on held-out examples.
//!
//! A classifier's prediction is the class of its largest logit. A language model predicts each word from the words
//! before it; its accuracy is over words, and the words of an example count under the example's class.

pub(crate) mod captions;
pub(crate) mod personal_models;

use burn::tensor::DispatchTensor;
use fedround_data::Examples;
use fedround_data::augment::{Augment, Scratch, Visit};
use fedround_data::text::PAD;
use fedround_exec::tensor::{from_floats, from_ints, read};
use fedround_random::{Purpose, StreamKey};

use crate::error::RunError;
use crate::workers::Workers;
use fedround_exec::Program;
use fedround_exec::executor::Slots;

/// The results of a model on a set of examples.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Mean cross-entropy of an example, or a word, in nats.
    pub loss: f64,
    /// Fraction of examples, or words, whose largest logit is the right one.
    pub accuracy: f64,
    /// The same for the examples of each class; NaN for a class without examples.
    pub class_accuracy: Vec<f64>,
    /// The class of each example's largest logit, in the order of the examples. Empty for a language model.
    pub predictions: Vec<u16>,
}

/// The default number of examples in a batch of an evaluation.
pub(crate) const BATCH: usize = 250;

/// Runs models in inference. Several models are an ensemble, by the means of their logits. Images go through the
/// fixed steps of `augment`. Batches run in parallel on the workers, and their results are combined in order.
pub(crate) struct Inference<'a> {
    pub program: &'a Program,
    pub models: &'a [&'a [DispatchTensor]],
    pub augment: &'a Augment,
    pub workers: &'a Workers,
    /// The seed and the round, for random numbers that the models draw in inference.
    pub at: (u64, usize),
    /// The number of examples in a batch.
    pub batch: usize,
}

impl Inference<'_> {
    /// Evaluates the models on examples.
    ///
    /// # Errors
    ///
    /// The model cannot be traced for the batch shape; a label is not one of the classes; or a classifier does not give
    /// a number for each class.
    pub fn evaluate(&self, examples: &Examples, classes: usize) -> Result<Evaluation, RunError> {
        let objective = self.program.model().objective();
        let parts = self.workers.run(self.batches(examples), |i| {
            let indices = self.indices(examples, i);
            let logits = self.batch_logits(examples, i, &indices)?;
            let mut labels = vec![0; indices.len()];
            examples.gather_labels_into(&indices, &mut labels);
            check_labels(&labels, classes)?;
            let mut counts = Counts::new(classes);
            match objective.target.as_str() {
                "y" => {
                    check_outputs(logits.len(), labels.len(), classes)?;
                    counts.labels(&logits, &labels);
                }
                column => {
                    let (ids, _) = words(examples, column, &indices)?;
                    counts.words(&logits, &ids, &labels);
                }
            }
            Ok::<_, RunError>(counts)
        });
        let mut total = Counts::new(classes);
        for part in parts {
            total.add(part?);
        }
        Ok(total.evaluation())
    }

    /// The logits of examples, one after another.
    ///
    /// # Errors
    ///
    /// As [`evaluate`](Self::evaluate).
    pub fn logits(&self, examples: &Examples) -> Result<Vec<f32>, RunError> {
        let parts = self.workers.run(self.batches(examples), |i| {
            self.batch_logits(examples, i, &self.indices(examples, i))
        });
        let parts: Vec<Vec<f32>> = parts.into_iter().collect::<Result<_, _>>()?;
        Ok(parts.concat())
    }

    /// The number of batches.
    fn batches(&self, examples: &Examples) -> usize {
        examples.len().div_ceil(self.batch)
    }

    /// The indices of the examples of the `i`-th batch.
    fn indices(&self, examples: &Examples, i: usize) -> Vec<usize> {
        (i * self.batch..((i + 1) * self.batch).min(examples.len())).collect()
    }

    /// The logits of the `i`-th batch.
    fn batch_logits(
        &self,
        examples: &Examples,
        i: usize,
        indices: &[usize],
    ) -> Result<Vec<f32>, RunError> {
        let (program, (seed, round)) = (self.program, self.at);
        let forward = program.forward(indices.len())?;
        let mut inputs = vec![images(program, examples, indices, &self.augment.fixed())?];
        for name in &program.model().objective().inputs {
            let (ids, shape) = words(examples, name, indices)?;
            inputs.push(from_ints(ids, &shape, program.device()));
        }
        let key = StreamKey::new(seed, Purpose::Evaluation).with(round);
        let keys = [key.with(i)];
        let supplies = forward.supplies.tensors(&keys, None, program.device());
        let supplies: Vec<_> = supplies.collect();
        let slots = &mut Slots::default();
        let mut mean: Vec<f32> = vec![];
        for model in self.models {
            let inputs = model.iter().chain(&inputs).chain(&supplies).cloned();
            let logits = forward.plan.run(program.device(), inputs, slots)?;
            let logits = logits.into_iter().next().map(read).transpose()?;
            add(&mut mean, logits.unwrap_or_default());
        }
        let models = self.models.len() as f32;
        mean.iter_mut().for_each(|z| *z /= models);
        Ok(mean)
    }
}

/// The images of examples, after the fixed steps of augmentation.
pub(crate) fn images(
    program: &Program,
    examples: &Examples,
    indices: &[usize],
    fixed: &Augment,
) -> Result<DispatchTensor, RunError> {
    let shape = program.model().input(indices.len());
    let mut x = vec![0.0; shape.len()];
    match fixed.is_empty() {
        true => examples.x().gather_into(indices, &mut x)?,
        false => {
            let (scratch, visit) = (&mut Scratch::default(), Visit::default());
            fixed.gather_into(examples.x(), indices, visit, scratch, &mut x)?;
        }
    }
    Ok(from_floats(x, &shape.shape, program.device()))
}

/// A column of token ids of examples, and its shape.
fn words(
    examples: &Examples,
    name: &str,
    indices: &[usize],
) -> Result<(Vec<i32>, Vec<usize>), RunError> {
    let column = examples.column(name);
    let column = column.ok_or_else(|| RunError::Column(name.to_owned()))?;
    let mut ids = vec![0; indices.len() * column.features()];
    column.gather_ids_into(indices, &mut ids)?;
    let shape = [&[indices.len()], column.shape()].concat();
    Ok((ids, shape))
}

/// Fails if a label is not one of the classes.
fn check_labels(labels: &[i32], classes: usize) -> Result<(), RunError> {
    let is_class = |label: &i32| usize::try_from(*label).is_ok_and(|label| label < classes);
    match labels.iter().find(|label| !is_class(label)) {
        Some(&label) => Err(RunError::Label { label, classes }),
        None => Ok(()),
    }
}

/// Fails unless there is a logit of each class for each example.
fn check_outputs(logits: usize, examples: usize, classes: usize) -> Result<(), RunError> {
    match logits == examples * classes {
        true => Ok(()),
        false => Err(RunError::Outputs {
            classes,
            found: logits / examples.max(1),
        }),
    }
}

/// Adds to a sum, which is empty before the first addition.
fn add(sum: &mut Vec<f32>, more: Vec<f32>) {
    match sum.is_empty() {
        true => *sum = more,
        false => sum.iter_mut().zip(more).for_each(|(a, b)| *a += b),
    }
}

/// Counts of predictions.
struct Counts {
    /// The sum of the cross-entropies.
    loss: f64,
    /// For each class, the number of correct predictions.
    right: Vec<u64>,
    /// For each class, the number of predictions.
    total: Vec<u64>,
    /// The predicted class of each example. Empty for a language model.
    predictions: Vec<u16>,
}

impl Counts {
    fn new(classes: usize) -> Self {
        Self {
            loss: 0.0,
            right: vec![0; classes],
            total: vec![0; classes],
            predictions: vec![],
        }
    }

    /// Counts the predictions of a classifier: logits `[n, classes]` for `n` labels.
    fn labels(&mut self, logits: &[f32], labels: &[i32]) {
        let classes = self.right.len();
        for (row, &label) in logits.chunks(classes.max(1)).zip(labels) {
            let best = self.count(row, label as usize, label as usize);
            self.predictions.push(best as u16);
        }
    }

    /// Counts the predictions of a language model: logits `[n, steps, vocabulary]` of each word's successor, for words
    /// `[n, steps]` of examples with these labels. Padding does not count.
    fn words(&mut self, logits: &[f32], words: &[i32], labels: &[i32]) {
        let vocabulary = logits.len() / words.len().max(1);
        let steps = words.len() / labels.len().max(1);
        let sentences = words.chunks(steps.max(1)).zip(labels);
        for ((words, &label), logits) in sentences.zip(logits.chunks((steps * vocabulary).max(1))) {
            let next = words.iter().skip(1).zip(logits.chunks(vocabulary.max(1)));
            for (&word, row) in next.filter(|(word, _)| **word != PAD) {
                self.count(row, word as usize, label as usize);
            }
        }
    }

    /// Counts one prediction under a class, and returns the index of its largest logit.
    fn count(&mut self, row: &[f32], expected: usize, class: usize) -> usize {
        let row: Vec<f64> = row.iter().map(|&z| f64::from(z)).collect();
        let mut best = 0;
        for (i, z) in row.iter().enumerate() {
            if *z > row[best] {
                best = i;
            }
        }
        let norm: f64 = row.iter().map(|z| (z - row[best]).exp()).sum();
        self.loss += norm.ln() + row[best] - row[expected];
        self.total[class] += 1;
        self.right[class] += u64::from(best == expected);
        best
    }

    fn add(&mut self, other: Self) {
        self.loss += other.loss;
        for (a, b) in self.right.iter_mut().zip(&other.right) {
            *a += b;
        }
        for (a, b) in self.total.iter_mut().zip(&other.total) {
            *a += b;
        }
        self.predictions.extend(other.predictions);
    }

    fn evaluation(self) -> Evaluation {
        let total = self.total.iter().sum::<u64>() as f64;
        let classes = self.right.iter().zip(&self.total);
        Evaluation {
            loss: self.loss / total,
            accuracy: self.right.iter().sum::<u64>() as f64 / total,
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
        let mut counts = Counts::new(2);
        counts.labels(&logits, &[0, 1, 1]);
        let e = counts.evaluation();
        assert!((e.accuracy - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(e.class_accuracy, [1.0, 0.5]);
        assert_eq!(e.predictions, [0, 1, 0]);
        let (near, far) = ((1.0 + (-2f64).exp()).ln(), (1.0 + 2f64.exp()).ln());
        assert!((e.loss - (2.0 * near + far) / 3.0).abs() < 1e-12);
    }

    #[test]
    fn counts_words_but_not_what_fills_up() {
        let mut counts = Counts::new(2);
        let [yes, no] = [[0.0, 9.0, 0.0], [9.0, 0.0, 0.0]];
        // The start, 1 rightly, the padding; the start, 1 wrongly, 1 rightly.
        let logits = [yes, no, no, no, yes, no].concat();
        counts.words(&logits, &[2, 1, 0, 2, 1, 1], &[0, 1]);
        let e = counts.evaluation();
        assert!((e.accuracy - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(e.class_accuracy, [1.0, 0.5]);
        assert!(e.predictions.is_empty());
        let sure = (1.0 + 2.0 * (-9f64).exp()).ln();
        assert!((e.loss - (3.0 * sure + 9.0) / 3.0).abs() < 1e-12);
    }
}
