//! Tracing: models and losses are run once on burn's capture device, which records operations
//! instead of executing them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use burn::tensor::{Device, DispatchTensor, Tensor, TensorData};
use burn_dispatch::backends::capture::{CaptureError, CapturedGraph, TensorId};
use burn_dispatch::{BackendTensor, DispatchTensorKind};
use fedround_dsl::Objective;
use fedround_ir::fed::Kind;
use fedround_ir::tensor::{Graph, TensorType};
use fedround_models::{AnyTensor, CallError, ForwardCx, Losses, Model, Task};
use fedround_passes::tensor::{Frontend, FrontendError};

use crate::import::{ImportError, from_burn};
use crate::ops;

/// A function could not be traced.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The function itself panicked, for instance on a shape that does not fit.
    #[error("{what} cannot be traced: {message}")]
    Panicked {
        /// What was traced.
        what: String,
        /// The panic's message.
        message: String,
    },
    /// burn refused the capture.
    #[error("{what} cannot be captured: {source}")]
    Capture {
        /// What was traced.
        what: String,
        /// burn's reason.
        source: CaptureFailure,
    },
    /// A function or a loss was called wrongly.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The recorded operations have no form in the tensor dialect.
    #[error(transparent)]
    Import(#[from] ImportError),
}

/// burn's [`CaptureError`] as an error.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CaptureFailure(CaptureError);

/// Traces one model and its losses.
pub struct Tracer {
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

impl Tracer {
    /// For a model built for `task`.
    pub fn new(name: &str, model: Box<dyn Model>, task: Task, losses: Losses) -> Self {
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

    /// The same, with no traces made yet.
    pub(crate) fn copy(&self) -> Self {
        let device = Device::default();
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
            "predict" => format!("model `{}`", self.name),
            function => format!("function `{function}` of model `{}`", self.name),
        };
        trace(&what, |device| {
            let model = self.model.to_device(device);
            let leaves = model.leaves();
            let mut named: Vec<(String, TensorId)> = vec![];
            for leaf in &leaves {
                named.extend(id(&leaf.tensor).map(|id| (leaf.name.clone(), id)));
            }
            let arguments = arguments(inputs, device, &mut named);
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
            Ok(Traced {
                inputs: named,
                outputs,
                alive: Box::new((model, leaves, arguments)),
            })
        })
    }

    fn loss_graph(&self, name: &str, inputs: &[TensorType]) -> Result<Graph, TraceError> {
        self.traces.fetch_add(1, Ordering::Relaxed);
        trace(&format!("loss `{name}`"), |device| {
            let mut named = vec![];
            let arguments = arguments(inputs, device, &mut named);
            let value = self.losses.call(name, &arguments)?;
            Ok(Traced {
                inputs: named,
                outputs: vec![value.into_dispatch()],
                alive: Box::new(arguments),
            })
        })
    }
}

/// Placeholders for what a function is given, with their ids.
fn arguments(
    inputs: &[TensorType],
    device: &Device,
    named: &mut Vec<(String, TensorId)>,
) -> Vec<AnyTensor> {
    let device = device.as_dispatch();
    let tensors = inputs.iter().enumerate().map(|(i, ty)| {
        let zeros = match ty.dtype {
            fedround_ir::tensor::DType::F32 => ops::tensor(vec![0.0; ty.len()], &ty.shape, device),
            _ => ops::ints(vec![0; ty.len()], &ty.shape, device),
        };
        named.extend(id(&zeros).map(|id| (format!("x{i}"), id)));
        AnyTensor::from(zeros)
    });
    tensors.collect()
}

/// The data has no column of a name.
#[derive(Debug, thiserror::Error)]
#[error("the data has no column `{name}`; it has {}", .known.join(", "))]
struct UnknownColumn {
    name: String,
    known: Vec<String>,
}

impl Frontend for Tracer {
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
        Ok(self.loss_graph(name, inputs)?)
    }

    fn function(&self, name: &str, inputs: &[TensorType]) -> Result<Graph, FrontendError> {
        self.traces.fetch_add(1, Ordering::Relaxed);
        let traced = trace(&format!("function `{name}`"), |device| {
            let mut named = vec![];
            let arguments = arguments(inputs, device, &mut named);
            let value = self.losses.call_function(name, &arguments)?;
            Ok(Traced {
                inputs: named,
                outputs: vec![value.into_dispatch()],
                alive: Box::new(arguments),
            })
        });
        Ok(traced?)
    }

    fn input(&self, rows: usize) -> TensorType {
        Self::input(self, rows)
    }
}

/// Traces a function of float tensors of the given shapes to one scalar.
///
/// # Errors
///
/// See [`TraceError`].
pub fn trace_function(
    what: &str,
    shapes: &[[usize; 4]],
    f: &dyn Fn(&[Tensor<4>]) -> Tensor<1>,
) -> Result<Graph, TraceError> {
    trace(what, |device| {
        let tensor = |s: &[usize; 4]| Tensor::from_data(TensorData::zeros::<f32, _>(*s), device);
        let tensors: Vec<Tensor<4>> = shapes.iter().map(tensor).collect();
        let mut inputs = vec![];
        for (i, t) in tensors.iter().enumerate() {
            inputs.extend(id(&t.clone().into_dispatch()).map(|id| (format!("x{i}"), id)));
        }
        let out = f(&tensors).into_dispatch();
        Ok(Traced {
            inputs,
            outputs: vec![out],
            alive: Box::new(tensors),
        })
    })
}

/// What a traced function leaves behind: ids of its inputs, its outputs, and whatever must not be
/// dropped before the capture closes.
struct Traced {
    inputs: Vec<(String, TensorId)>,
    outputs: Vec<DispatchTensor>,
    alive: Box<dyn std::any::Any>,
}

/// Capture devices are numbered for the life of the process and take one scope at a time, so one
/// is reused.
static CAPTURE: Mutex<Option<Device>> = Mutex::new(None);

fn trace(
    what: &str,
    run: impl FnOnce(&Device) -> Result<Traced, CallError>,
) -> Result<Graph, TraceError> {
    let mut pool = CAPTURE.lock().unwrap_or_else(|e| e.into_inner());
    let device = pool.get_or_insert_with(Device::capture).clone();
    let mut inputs = vec![];
    let (mut alive, mut refused) = (None, None);
    let captured: Result<Result<CapturedGraph, CaptureError>, _> =
        catch_unwind(AssertUnwindSafe(|| {
            device.capture_scope(|scope| {
                let traced = match run(&device) {
                    Ok(traced) => traced,
                    Err(error) => {
                        refused = Some(error);
                        return scope.complete([], []);
                    }
                };
                inputs = traced.inputs;
                let done = scope.complete(
                    inputs.iter().map(|(_, id)| *id),
                    traced.outputs.iter().filter_map(id),
                );
                alive = Some((traced.alive, traced.outputs));
                done
            })
        }));
    if let Some(error) = refused {
        return Err(error.into());
    }
    let what = what.to_owned();
    let captured = captured
        .map_err(|panic| TraceError::Panicked {
            message: message(panic.as_ref()),
            what: what.clone(),
        })?
        .map_err(|source| TraceError::Capture {
            source: CaptureFailure(source),
            what: what.clone(),
        })?;
    drop(alive);
    Ok(from_burn(&what, &captured, &inputs)?)
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("it panicked")
        .to_owned()
}

fn id(tensor: &DispatchTensor) -> Option<TensorId> {
    match &tensor.kind {
        DispatchTensorKind::Capture(BackendTensor::Float(t) | BackendTensor::Int(t)) => {
            Some(t.id())
        }
        _ => None,
    }
}
