//! The model of a program: a bundled one by its name, or one that the caller brings.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use burn::tensor::Device;
use fedround_dsl::Algorithm;
use fedround_exec::{CompileError, assemble_for};
use fedround_models::{AuxiliaryTask, Losses, Model, ModelError, Network, Task, build};
use fedround_simulation::without_drawn_values;
use fedround_trace::TracedModel;

/// Variants of auxiliary networks by the networks' names, as in `discriminator` → `linear`.
pub type Auxiliaries = BTreeMap<String, String>;

/// A model by name, or a function that makes one for a task.
///
/// A name is a source: `experiment.model("cnn")`. [`own`](Self::own) is one of a model of your own.
#[derive(Clone)]
pub enum ModelSource {
    /// One of [`MODELS`](fedround_models::MODELS).
    Bundled(String),
    /// The caller's own; [`own`](Self::own) makes it.
    Own {
        /// What reports and errors call it.
        name: String,
        /// Makes it. Weights of linear and convolutional layers may have any values, because a run
        /// draws its own; other layers start as they are made.
        make: MakeModel,
    },
}

/// Makes a model for a task on a device.
pub type MakeModel = Arc<dyn Fn(Task, &Device) -> Box<dyn Model> + Send + Sync>;

impl fmt::Debug for ModelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bundled(name) => f.debug_tuple("Bundled").field(name).finish(),
            Self::Own { name, .. } => f
                .debug_struct("Own")
                .field("name", name)
                .finish_non_exhaustive(),
        }
    }
}

/// A program could not be made of a model and a spec.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
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
    /// A model of your own, by a function that makes it for the inputs and classes of the data. The function may
    /// capture what else the model depends on, such as widths of layers. It must make the same layers each time.
    ///
    /// ```
    /// use fedround::burn; // where `#[derive(Module)]` looks
    /// use fedround::burn::module::Module;
    /// use fedround::burn::nn::{Linear, LinearConfig};
    /// use fedround::burn::tensor::{Tensor, activation::relu};
    /// use fedround::data::{Partition, synth::SynthDigits};
    /// use fedround::models::{Classifier, ForwardCx};
    /// use fedround::{Experiment, ModelSource, algorithms::FedAvg};
    ///
    /// #[derive(Module, Debug)]
    /// struct Hidden {
    ///     layer: Linear,
    ///     head: Linear,
    /// }
    ///
    /// impl Classifier for Hidden {
    ///     fn features(&self, x: Tensor<4>, _: &ForwardCx) -> Tensor<2> {
    ///         relu(self.layer.forward(x.flatten(1, 3)))
    ///     }
    ///
    ///     fn head(&self, h: Tensor<2>, _: &ForwardCx) -> Tensor<2> {
    ///         self.head.forward(h)
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let width = 16;
    /// let model = ModelSource::own("hidden", move |task, device| Hidden {
    ///     layer: LinearConfig::new(task.input.iter().product(), width).init(device),
    ///     head: LinearConfig::new(width, task.classes).init(device),
    /// });
    /// let data = SynthDigits { train: 200, test: 50, ..SynthDigits::default() }.generate();
    /// let experiment = Experiment::new(FedAvg::default()).model(model).data(data);
    /// experiment.clients(10).partition(Partition::Iid).run(1)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn own<M: Network>(
        name: impl Into<String>,
        make: impl Fn(Task, &Device) -> M + Send + Sync + 'static,
    ) -> Self {
        Self::own_boxed(name, move |task, device| Box::new(make(task, device)))
    }

    /// As [`own`](Self::own), of a function that gives models of several types.
    pub fn own_boxed(
        name: impl Into<String>,
        make: impl Fn(Task, &Device) -> Box<dyn Model> + Send + Sync + 'static,
    ) -> Self {
        Self::Own {
            name: name.into(),
            make: Arc::new(make),
        }
    }

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
        let model = without_drawn_values(&*assembled.model);
        let model = TracedModel::new(self.name(), model, around.task, losses.clone());
        let used = assembled.auxiliaries.iter();
        let used = used.map(|(name, variant)| ((*name).to_owned(), (*variant).to_owned()));
        Ok((model, used.collect()))
    }
}
