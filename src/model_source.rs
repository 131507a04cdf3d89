//! The model of a program: a bundled one by its name, or one that the caller brings.

use std::collections::BTreeMap;

use burn::tensor::Device;
use fedround_dsl::Algorithm;
use fedround_exec::{CompileError, assemble_for};
use fedround_models::{AuxiliaryTask, Losses, Model, ModelError, Task, build};
use fedround_trace::TracedModel;

/// Variants of auxiliary networks by the networks' names, as in `discriminator` → `linear`.
pub type Auxiliaries = BTreeMap<String, String>;

/// A model by name, or a function that makes one for a task.
#[derive(Clone, Debug)]
pub enum ModelSource {
    /// One of [`MODELS`](fedround_models::MODELS).
    Bundled(String),
    /// The caller's own.
    Own {
        /// What reports and errors call it.
        name: &'static str,
        /// Makes it. Weights of linear and convolutional layers may have any values, because a run
        /// draws its own; other layers start as they are made.
        make: fn(Task, &Device) -> Box<dyn Model>,
    },
}

/// A program could not be made of a model and a spec.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// The model is unknown, or does not fit the task.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The spec does not compile.
    #[error(transparent)]
    Compile(#[from] CompileError),
}

impl From<&str> for ModelSource {
    fn from(name: &str) -> Self {
        Self::Bundled(name.to_owned())
    }
}

impl ModelSource {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Bundled(name) => name,
            Self::Own { name, .. } => name,
        }
    }

    /// The model with the auxiliary networks that the algorithm needs beside it, ready to be traced,
    /// and the variants of these networks. `words` is the size of the data's vocabulary, if it has
    /// one.
    ///
    /// # Errors
    ///
    /// See [`GraphError`].
    pub fn trace(
        &self,
        algorithm: &dyn Algorithm,
        around: &AuxiliaryTask,
        words: Option<usize>,
        losses: &Losses,
    ) -> Result<(TracedModel, Auxiliaries), GraphError> {
        self.trace_adapted(algorithm, around, words, losses, Ok)
    }

    /// As [`trace`](Self::trace), after a change of the model itself, such as [adapters](crate::experiment::adapt).
    ///
    /// # Errors
    ///
    /// As [`trace`](Self::trace), or that of `adapt`.
    pub fn trace_adapted<E: From<GraphError>>(
        &self,
        algorithm: &dyn Algorithm,
        around: &AuxiliaryTask,
        words: Option<usize>,
        losses: &Losses,
        adapt: impl FnOnce(Box<dyn Model>) -> Result<Box<dyn Model>, E>,
    ) -> Result<(TracedModel, Auxiliaries), E> {
        // Models are made in host memory, whatever device they are compiled for.
        let device = Device::flex();
        let model = match self {
            Self::Bundled(name) => {
                build(name, around.task, words, &device).map_err(GraphError::from)?
            }
            Self::Own { make, .. } => make(around.task, &device),
        };
        let assembled = assemble_for(algorithm, adapt(model)?, around, &device);
        let assembled = assembled.map_err(GraphError::from)?;
        let model = TracedModel::new(self.name(), assembled.model, around.task, losses.clone());
        let used = assembled.auxiliaries.iter();
        let used = used.map(|(name, variant)| ((*name).to_owned(), (*variant).to_owned()));
        Ok((model, used.collect()))
    }
}
