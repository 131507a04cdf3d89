//! A model with its losses, traced on demand for each batch shape.

use std::sync::atomic::{AtomicUsize, Ordering};

use burn::tensor::{Device, DispatchTensor};
use fedround_dsl::Objective;
use fedround_ir::fed::Kind;
use fedround_ir::tensor::{Graph, TensorType};
use fedround_models::{AnyTensor, CallError, ForwardCx, Losses, Model, Task};
use fedround_passes::lowering::{Frontend, FrontendError};

use crate::capture::{Recording, TraceError, arguments, named, trace};

/// A model and its losses, which are traced whenever a batch shape is met for the first time.
pub struct TracedModel {
    name: String,
    model: Box<dyn Model>,
    task: Task,
    columns: Vec<(String, Vec<usize>)>,
    losses: Losses,
    parameters: Vec<(String, TensorType)>,
    layers: Vec<Vec<String>>,
    traces: AtomicUsize,
    buffers: Vec<usize>,
}

impl TracedModel {
    /// For a model built for `task`.
    pub fn new(name: &str, model: Box<dyn Model>, task: Task, losses: Losses) -> Self {
        // Traces read its values, which are then in host memory, wherever it was built.
        let model = model.to_device(&Device::flex());
        let leaves = model.leaves();
        let buffers = leaves.iter().enumerate().filter(|(_, l)| l.buffer);
        Self {
            name: name.to_owned(),
            buffers: buffers.map(|(i, _)| i).collect(),
            traces: AtomicUsize::new(0),
            layers: leaves.iter().map(|l| l.modules.clone()).collect(),
            parameters: leaves
                .into_iter()
                .map(|l| (l.name, TensorType::f32(l.shape)))
                .collect(),
            model,
            task,
            columns: vec![],
            losses,
        }
    }

    /// The same model and losses, with no traces made yet.
    pub fn copy(&self) -> Self {
        let device = Device::flex();
        let (model, losses) = (self.model.to_device(&device), self.losses.clone());
        Self::new(&self.name, model, self.task, losses).with_columns(self.columns.clone())
    }

    /// The names of the data's columns.
    fn column_names(&self) -> Vec<String> {
        let more = self.columns.iter().map(|(name, _)| name.as_str());
        let more = more.filter(|name| !["x", "y"].contains(name));
        let all = ["x", "y"].into_iter().chain(more);
        all.map(str::to_owned).collect()
    }

    /// The model with its initial structure; its values are zeros.
    pub fn model(&self) -> &dyn Model {
        self.model.as_ref()
    }

    /// What the model was built for.
    pub fn task(&self) -> Task {
        self.task
    }

    /// What the model is trained for, unless an algorithm says otherwise.
    pub fn objective(&self) -> Objective {
        let own = self.model.objective();
        Objective {
            inputs: own.inputs.iter().map(|&name| name.to_owned()).collect(),
            loss: own.loss.to_owned(),
            target: own.target.to_owned(),
        }
    }

    /// Type of the model's inputs for a batch size.
    pub fn input(&self, batch: usize) -> TensorType {
        let [c, h, w] = self.task.input;
        TensorType::f32([batch, c, h, w])
    }

    /// How often the model or a loss was traced. A run traces each batch shape once, whatever the
    /// number of rounds.
    pub fn traces(&self) -> usize {
        self.traces.load(Ordering::Relaxed)
    }

    /// Name of the model.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Says which columns the data has besides the inputs `x` and the labels `y`: name and shape of
    /// an example.
    #[must_use]
    pub fn with_columns(mut self, columns: Vec<(String, Vec<usize>)>) -> Self {
        self.columns = columns;
        self
    }

    fn function_graph(
        &self,
        function: &str,
        inputs: &[TensorType],
        training: bool,
    ) -> Result<Graph, TraceError> {
        self.traces.fetch_add(1, Ordering::Relaxed);
        let what = match function {
            "forward" => format!("model `{}`", self.name),
            function => format!("function `{function}` of model `{}`", self.name),
        };
        trace(&what, |device| {
            let model = self.model.to_device(device);
            let leaves = model.leaves();
            let parameters = leaves.iter();
            let parameters = parameters.map(|leaf| (leaf.name.clone(), leaf.tensor.clone()));
            let mut inputs_by_name: Vec<_> = parameters.collect();
            let arguments = arguments(inputs, device);
            inputs_by_name.extend(named(arguments.iter().cloned()));
            let arguments: Vec<AnyTensor> = arguments.into_iter().map(AnyTensor::from).collect();
            let cx = if training {
                ForwardCx::training()
            } else {
                ForwardCx::inference()
            };
            let output = model.call(function, &arguments, &cx)?;
            let mut outputs = vec![output.value.into_dispatch()];
            if training {
                outputs.extend(output.buffers);
            }
            Ok(Recording {
                inputs: inputs_by_name,
                outputs,
                alive: Box::new((model, leaves, arguments)),
            })
        })
    }

    /// A registered loss or function.
    fn registered(
        &self,
        what: &str,
        inputs: &[TensorType],
        call: impl FnOnce(&[AnyTensor]) -> Result<DispatchTensor, CallError>,
    ) -> Result<Graph, TraceError> {
        self.traces.fetch_add(1, Ordering::Relaxed);
        trace(what, |device| {
            let arguments = arguments(inputs, device);
            let inputs = named(arguments.iter().cloned()).collect();
            let arguments: Vec<AnyTensor> = arguments.into_iter().map(AnyTensor::from).collect();
            Ok(Recording {
                inputs,
                outputs: vec![call(&arguments)?],
                alive: Box::new(arguments),
            })
        })
    }
}

/// The data has no column of a name.
#[derive(Debug, thiserror::Error)]
#[error("the data has no column `{name}`; it has {}", .known.join(", "))]
struct UnknownColumn {
    name: String,
    known: Vec<String>,
}

impl Frontend for TracedModel {
    fn parameters(&self) -> &[(String, TensorType)] {
        &self.parameters
    }

    fn layers(&self) -> &[Vec<String>] {
        &self.layers
    }

    fn buffers(&self) -> &[usize] {
        &self.buffers
    }

    fn column(&self, name: &str, kind: Kind, batch: usize) -> Result<TensorType, FrontendError> {
        let own = match name {
            "x" => return Ok(self.input(batch)),
            "y" => vec![],
            name => {
                let found = self.columns.iter().find(|(column, _)| column == name);
                let (_, shape) = found.ok_or_else(|| UnknownColumn {
                    name: name.to_owned(),
                    known: self.column_names(),
                })?;
                shape.clone()
            }
        };
        let shape: Vec<usize> = [batch].into_iter().chain(own).collect();
        Ok(match kind {
            Kind::Labels => TensorType::i32(shape),
            _ => TensorType::f32(shape),
        })
    }

    fn apply(
        &self,
        function: &str,
        inputs: &[TensorType],
        training: bool,
    ) -> Result<Graph, FrontendError> {
        Ok(self.function_graph(function, inputs, training)?)
    }

    fn loss(&self, name: &str, inputs: &[TensorType]) -> Result<Graph, FrontendError> {
        let call = |given: &[AnyTensor]| Ok(self.losses.call(name, given)?.into_dispatch());
        Ok(self.registered(&format!("loss `{name}`"), inputs, call)?)
    }

    fn function(&self, name: &str, inputs: &[TensorType]) -> Result<Graph, FrontendError> {
        let call = |given: &[AnyTensor]| {
            let value = self.losses.call_function(name, given)?;
            Ok(value.into_dispatch())
        };
        Ok(self.registered(&format!("function `{name}`"), inputs, call)?)
    }

    fn input(&self, rows: usize) -> TensorType {
        Self::input(self, rows)
    }
}
