//! Evaluates the global model and the clients' personal models.

use burn::tensor::DispatchTensor;
use fedround_data::Examples;

use super::Simulation;
use crate::error::RunError;
use crate::evaluation::captions::Search;
use crate::evaluation::personal_models::PersonalModels;
use crate::evaluation::{Evaluation, Inference};

impl Simulation {
    /// Sets how many examples each worker evaluates at once; 0 counts as 1. Sums over examples may round
    /// differently.
    #[must_use]
    pub fn with_evaluation_batch(mut self, examples: usize) -> Self {
        self.evaluation_batch = examples.max(1);
        self
    }

    /// Evaluates a client's personal model; `None` if `models` does not have it.
    ///
    /// # Errors
    ///
    /// The model cannot be traced for the batch shape; a label is not one of the model's classes; or a classifier does
    /// not give a number for each class.
    pub fn evaluate_client(
        &self,
        models: &PersonalModels,
        client: usize,
        examples: &Examples,
    ) -> Result<Option<Evaluation>, RunError> {
        let model = models.of(client);
        model
            .map(|model| self.evaluate_models(&[model], examples))
            .transpose()
    }

    /// Evaluates the ensemble of the clients' personal models: the mean of their logits (the "new test"
    /// of LG-FedAvg, Liang, Liu et al. 2020).
    ///
    /// # Errors
    ///
    /// The model cannot be traced for the batch shape; a label is not one of the model's classes; or a classifier does
    /// not give a number for each class.
    pub fn evaluate_ensemble(
        &self,
        models: &PersonalModels,
        examples: &Examples,
    ) -> Result<Evaluation, RunError> {
        self.evaluate_models(&models.all(), examples)
    }

    /// Evaluates the global model.
    ///
    /// # Errors
    ///
    /// The model cannot be traced for the batch shape; a label is not one of the model's classes; or a classifier does
    /// not give a number for each class.
    pub fn evaluate(&self, examples: &Examples) -> Result<Evaluation, RunError> {
        self.evaluate_models(&[&self.params], examples)
    }

    /// The logits of the global model, one example after another; for a classifier, one logit for each class. The
    /// examples' labels are not used.
    ///
    /// # Errors
    ///
    /// The model cannot be traced for the batch shape; a label is not one of the model's classes; or a classifier does
    /// not give a number for each class.
    pub fn logits(&self, examples: &Examples) -> Result<Vec<f32>, RunError> {
        self.guarded(|| self.inference(&[&self.params]).logits(examples))
    }

    /// Captions of images by the global model: the ids of the words, without start and end marks.
    ///
    /// # Errors
    ///
    /// The model does not have the functions that decoding needs.
    pub fn captions(&self, examples: &Examples, search: Search) -> Result<Vec<Vec<i32>>, RunError> {
        self.guarded(|| self.inference(&[&self.params]).captions(examples, search))
    }

    fn evaluate_models(
        &self,
        models: &[&[DispatchTensor]],
        examples: &Examples,
    ) -> Result<Evaluation, RunError> {
        self.evaluate_after(self.round, models, examples)
    }

    /// Evaluates models after a round. Several models are evaluated as an ensemble, by the means of their logits.
    pub(crate) fn evaluate_after(
        &self,
        round: usize,
        models: &[&[DispatchTensor]],
        examples: &Examples,
    ) -> Result<Evaluation, RunError> {
        let classes = self.program().model().task().classes;
        let inference = Inference {
            at: (self.seed, round),
            ..self.inference(models)
        };
        self.guarded(|| inference.evaluate(examples, classes))
    }

    fn inference<'a>(&'a self, models: &'a [&'a [DispatchTensor]]) -> Inference<'a> {
        Inference {
            program: self.program(),
            models,
            augment: &self.augment,
            workers: &self.workers,
            at: (self.seed, self.round),
            batch: self.evaluation_batch,
        }
    }
}
