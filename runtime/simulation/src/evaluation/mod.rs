//! Loss and accuracy on held-out examples.
//!
//! A classifier's prediction is the class of its largest logit. A language model predicts each word from the words
//! before it; its accuracy is over words, and the words of an example count under the example's class.

pub(crate) mod captions;
mod counts;
pub(crate) mod personal_models;

use burn::tensor::DispatchTensor;
use fedround_data::Examples;
use fedround_data::augment::{Augment, Scratch, Visit};
use fedround_exec::tensor::{from_floats, from_ints, read};
use fedround_random::{Purpose, StreamKey};

use self::counts::Counts;
use crate::columns::gather_numbers;
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
    /// The class of each example's largest logit, in the order of the examples; `u16::MAX` where a logit is not a
    /// number. Empty for a language model.
    pub predictions: Vec<u16>,
    /// For a classifier of two classes: by how much each example's logit of the second class is larger than that of the
    /// first, in the order of the examples. Otherwise empty.
    pub margins: Vec<f32>,
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
    /// The model cannot be traced for the batch shape; a label is not one of the classes; or the model does not give a
    /// number for each class, or of a language model for each token.
    pub fn evaluate(&self, examples: &Examples, classes: usize) -> Result<Evaluation, RunError> {
        let objective = self.program.model().objective();
        let parts = in_batches(self.workers, examples, self.batch, |i, indices| {
            let logits = self.batch_logits(examples, i, indices)?;
            let mut labels = vec![0; indices.len()];
            examples.gather_labels_into(indices, &mut labels);
            check_labels(&labels, classes)?;
            let mut counts = Counts::new(classes);
            match objective.target.as_str() {
                "y" => {
                    check_outputs(logits.len(), labels.len(), classes)?;
                    counts.labels(&logits, &labels);
                }
                column => {
                    let (ids, _) = words(examples, column, indices)?;
                    check_token_outputs(logits.len(), &ids)?;
                    counts.words(&logits, &ids, &labels);
                }
            }
            Ok(counts)
        })?;
        let mut total = Counts::new(classes);
        parts.into_iter().for_each(|part| total.add(part));
        Ok(total.evaluation())
    }

    /// The logits of examples, one after another.
    ///
    /// # Errors
    ///
    /// As [`evaluate`](Self::evaluate).
    pub fn logits(&self, examples: &Examples) -> Result<Vec<f32>, RunError> {
        let parts = in_batches(self.workers, examples, self.batch, |i, indices| {
            self.batch_logits(examples, i, indices)
        });
        Ok(parts?.concat())
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
        let mut inputs = vec![self.images(examples, indices)?];
        for name in &program.model().objective().inputs {
            let (ids, shape) = words(examples, name, indices)?;
            inputs.push(from_ints(ids, &shape, program.device()));
        }
        let key = StreamKey::new(seed, Purpose::Evaluation).with(round);
        let keys = [key.with(i)];
        inputs.extend(forward.supplies.tensors(&keys, None, program.device()));
        let slots = &mut Slots::default();
        let mut mean: Vec<f32> = vec![];
        for model in self.models {
            let inputs = model.iter().chain(&inputs).cloned();
            let logits = forward.plan.run(program.device(), inputs, slots)?;
            let logits = logits.into_iter().next().map(read).transpose()?;
            add(&mut mean, logits.unwrap_or_default());
        }
        let models = self.models.len() as f32;
        mean.iter_mut().for_each(|z| *z /= models);
        Ok(mean)
    }

    /// The images of examples, after the fixed steps of augmentation.
    fn images(&self, examples: &Examples, indices: &[usize]) -> Result<DispatchTensor, RunError> {
        let shape = self.program.model().input(indices.len());
        let mut x = vec![0.0; shape.len()];
        let fixed = self.augment.fixed();
        let augment = (&fixed, Visit::default(), &mut Scratch::default());
        gather_numbers(examples, "x", indices, augment, &mut x)?;
        Ok(from_floats(x, &shape.shape, self.program.device()))
    }
}

/// Runs `work` on batches of `size` examples in parallel, and returns its results in order. It is given the number of
/// the batch, and the indices of its examples.
fn in_batches<T: Send>(
    workers: &Workers,
    examples: &Examples,
    size: usize,
    work: impl Fn(usize, &[usize]) -> Result<T, RunError> + Sync,
) -> Result<Vec<T>, RunError> {
    let all: Vec<usize> = (0..examples.len()).collect();
    let batches: Vec<&[usize]> = all.chunks(size).collect();
    let results = workers.run(batches.len(), |i| work(i, batches[i]));
    results.into_iter().collect()
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

/// Fails unless there is a logit of each token for each place.
fn check_token_outputs(logits: usize, ids: &[i32]) -> Result<(), RunError> {
    let found = logits / ids.len().max(1);
    let largest = ids.iter().copied().max().unwrap_or(0);
    let tokens = usize::try_from(largest).unwrap_or(0) + 1;
    match logits == ids.len() * found && found >= tokens {
        true => Ok(()),
        false => Err(RunError::TokenOutputs { tokens, found }),
    }
}

/// Adds to a sum, which is empty before the first addition.
fn add(sum: &mut Vec<f32>, more: Vec<f32>) {
    match sum.is_empty() {
        true => *sum = more,
        false => sum.iter_mut().zip(more).for_each(|(a, b)| *a += b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_model_gives_a_number_for_each_token() {
        assert!(check_token_outputs(6, &[2, 1]).is_ok());
        let error = check_token_outputs(4, &[2, 1]).unwrap_err().to_string();
        assert!(
            error.contains("gives 2 numbers") && error.contains("at least 3"),
            "{error}"
        );
        assert!(check_token_outputs(7, &[2, 1]).is_err());
    }
}
