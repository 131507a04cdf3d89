//! A model with its losses and functions, which are traced when the compiler asks for their graphs.

use std::sync::atomic::{AtomicUsize, Ordering};

use burn::tensor::{Device, DispatchTensor};
use fedround_dsl::Objective;
use fedround_ir::fed::Kind;
use fedround_ir::tensor::{Graph, TensorType};
use fedround_models::{AnyTensor, CallError, ForwardCx, Losses, Model, Task};
use fedround_passes::lowering::{Frontend, FrontendError};

use crate::capture::{Recording, TraceError, arguments, trace, with_names};

/// A model and its losses, which are traced for the shapes that the compiler asks for. Each call in a spec is traced
/// whenever its segment is compiled. The compiler keeps compiled segments, so later rounds trace nothing.
pub struct TracedModel {
    name: String,
    model: Box<dyn Model>,
    task: Task,
    /// The columns of the data besides `x` and `y`: the name, and the shape of one example.
    columns: Vec<(String, Vec<usize>)>,
    losses: Losses,
    /// Name and type of each leaf of the parameter tree.
    parameters: Vec<(String, TensorType)>,
    /// For each leaf, the types of the modules that contain it, such as `BatchNorm`.
    layers: Vec<Vec<String>>,
    /// The number of traces so far.
    traces: AtomicUsize,
    /// The numbers of the leaves that are buffers, such as running means.
    buffers: Vec<usize>,
}

impl TracedModel {
    /// Wraps a model that was built for `task`.
    pub fn new(name: &str, model: Box<dyn Model>, task: Task, losses: Losses) -> Self {
        // A trace copies the model to the capture device, which reads the values from host memory.
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

    /// The names of the data's columns, beginning with `x` and `y`.
    fn column_names(&self) -> Vec<String> {
        let others = self.columns.iter().map(|(name, _)| name.as_str());
        let others = others.filter(|name| !["x", "y"].contains(name));
        let names = ["x", "y"].into_iter().chain(others);
        names.map(str::to_owned).collect()
    }

    /// The model that is traced.
    pub fn model(&self) -> &dyn Model {
        self.model.as_ref()
    }

    /// The task for which the model was built.
    pub fn task(&self) -> Task {
        self.task
    }

    /// The model's own training objective, which an algorithm may replace.
    pub fn objective(&self) -> Objective {
        let objective = self.model.objective();
        let inputs = objective.inputs.iter();
        Objective {
            inputs: inputs.map(|&name| name.to_owned()).collect(),
            loss: objective.loss.to_owned(),
            target: objective.target.to_owned(),
        }
    }

    /// The type of the model's inputs for a batch size.
    pub fn input(&self, batch: usize) -> TensorType {
        let [c, h, w] = self.task.input;
        TensorType::f32([batch, c, h, w])
    }

    /// The number of times that the model or a loss was traced. A segment is traced when it is compiled for a
    /// new shape, whatever the number of rounds.
    pub fn traces(&self) -> usize {
        self.traces.load(Ordering::Relaxed)
    }

    /// The name of the model.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the columns that the data has besides the inputs `x` and the labels `y`: the name, and the shape of
    /// one example.
    #[must_use]
    pub fn with_columns(mut self, columns: Vec<(String, Vec<usize>)>) -> Self {
        self.columns = columns;
        self
    }

    /// Traces a function of the model. Its inputs are the model's parameters, then `inputs`. In training, the
    /// outputs are its value, then the updated buffers.
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
            inputs_by_name.extend(with_names(arguments.iter().cloned()));
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
                keep_alive: Box::new((model, leaves, arguments)),
            })
        })
    }

    /// Traces a registered loss or function, which has no parameters.
    fn registered_graph(
        &self,
        what: &str,
        inputs: &[TensorType],
        call: impl FnOnce(&[AnyTensor]) -> Result<DispatchTensor, CallError>,
    ) -> Result<Graph, TraceError> {
        self.traces.fetch_add(1, Ordering::Relaxed);
        trace(what, |device| {
            let arguments = arguments(inputs, device);
            let inputs = with_names(arguments.iter().cloned()).collect();
            let arguments: Vec<AnyTensor> = arguments.into_iter().map(AnyTensor::from).collect();
            Ok(Recording {
                inputs,
                outputs: vec![call(&arguments)?],
                keep_alive: Box::new(arguments),
            })
        })
    }
}

/// The data has no column of this name.
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
        let example_shape = match name {
            "x" => return Ok(self.input(batch)),
            "y" => vec![],
            name => {
                let column = self.columns.iter().find(|(column, _)| column == name);
                let (_, shape) = column.ok_or_else(|| UnknownColumn {
                    name: name.to_owned(),
                    known: self.column_names(),
                })?;
                shape.clone()
            }
        };
        let shape: Vec<usize> = [batch].into_iter().chain(example_shape).collect();
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
        let call = |arguments: &[AnyTensor]| {
            let value = self.losses.call(name, arguments)?;
            Ok(value.into_dispatch())
        };
        Ok(self.registered_graph(&format!("loss `{name}`"), inputs, call)?)
    }

    fn function(&self, name: &str, inputs: &[TensorType]) -> Result<Graph, FrontendError> {
        let call = |arguments: &[AnyTensor]| {
            let value = self.losses.call_function(name, arguments)?;
            Ok(value.into_dispatch())
        };
        Ok(self.registered_graph(&format!("function `{name}`"), inputs, call)?)
    }

    fn input(&self, rows: usize) -> TensorType {
        Self::input(self, rows)
    }
}
