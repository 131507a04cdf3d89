//! Tracing: models and losses are run once on burn's capture device, which records operations
//! instead of executing them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use burn::tensor::{DType, Device, DispatchTensor, Int, Tensor, TensorData};
use burn_dispatch::backends::capture::{CaptureError, CapturedGraph, TensorId};
use burn_dispatch::{BackendTensor, DispatchTensorKind};
use fedround_ir::tensor::{Graph, TensorType};
use fedround_models::{ForwardCx, Losses, Model, Task};
use fedround_passes::tensor::{Frontend, lower::FrontendError};

use crate::import::{ImportError, from_burn};

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
    losses: Losses,
    parameters: Vec<(String, TensorType)>,
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
            parameters: leaves
                .into_iter()
                .map(|l| (l.name, TensorType::f32(l.shape)))
                .collect(),
            model,
            task,
            losses,
        }
    }

    /// The model with its initial structure; its values are zeros.
    pub fn model(&self) -> &dyn Model {
        self.model.as_ref()
    }

    /// What the model was built for.
    pub fn task(&self) -> Task {
        self.task
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

    fn predict_graph(&self, x: &TensorType, training: bool) -> Result<Graph, TraceError> {
        self.traces.fetch_add(1, Ordering::Relaxed);
        trace(&format!("model `{}`", self.name), |device| {
            let model = self.model.to_device(device);
            let leaves = model.leaves();
            let mut inputs: Vec<(String, TensorId)> = vec![];
            for leaf in &leaves {
                inputs.extend(id(&leaf.tensor).map(|id| (leaf.name.clone(), id)));
            }
            let x: Tensor<4> = Tensor::from_data(zeros(x), device);
            inputs.extend(id(&x.clone().into_dispatch()).map(|id| ("x".to_owned(), id)));
            let cx = if training {
                ForwardCx::training()
            } else {
                ForwardCx::inference()
            };
            let output = model.forward(x.clone(), &cx);
            let mut outputs = vec![output.logits.into_dispatch()];
            if training {
                outputs.extend(output.buffers);
            }
            Traced {
                inputs,
                outputs,
                alive: Box::new((model, leaves, x)),
            }
        })
    }

    fn loss_graph(
        &self,
        name: &str,
        logits: &TensorType,
        labels: &TensorType,
    ) -> Result<Graph, FrontendError> {
        let loss = self.losses.get(name)?;
        self.traces.fetch_add(1, Ordering::Relaxed);
        let graph = trace(&format!("loss `{name}`"), |device| {
            let z: Tensor<2> = Tensor::from_data(zeros(logits), device);
            let y: Tensor<1, Int> = Tensor::from_data(
                TensorData::zeros::<i32, _>(labels.shape.clone()),
                (device, DType::I32),
            );
            let mut inputs = vec![];
            inputs.extend(id(&z.clone().into_dispatch()).map(|id| ("logits".to_owned(), id)));
            inputs.extend(id(&y.clone().into_dispatch()).map(|id| ("labels".to_owned(), id)));
            let out = loss(z.clone(), y.clone()).into_dispatch();
            Traced {
                inputs,
                outputs: vec![out],
                alive: Box::new((z, y)),
            }
        })?;
        Ok(graph)
    }
}

impl Frontend for Tracer {
    fn parameters(&self) -> &[(String, TensorType)] {
        &self.parameters
    }

    fn buffers(&self) -> &[usize] {
        &self.buffers
    }

    fn input(&self, batch: usize) -> TensorType {
        let [c, h, w] = self.task.input;
        TensorType::f32([batch, c, h, w])
    }

    fn predict(&self, x: &TensorType, training: bool) -> Result<Graph, FrontendError> {
        Ok(self.predict_graph(x, training)?)
    }

    fn loss(
        &self,
        name: &str,
        logits: &TensorType,
        labels: &TensorType,
    ) -> Result<Graph, FrontendError> {
        self.loss_graph(name, logits, labels)
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
        Traced {
            inputs,
            outputs: vec![out],
            alive: Box::new(tensors),
        }
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

fn trace(what: &str, run: impl FnOnce(&Device) -> Traced) -> Result<Graph, TraceError> {
    let mut pool = CAPTURE.lock().unwrap_or_else(|e| e.into_inner());
    let device = pool.get_or_insert_with(Device::capture).clone();
    let mut inputs = vec![];
    let mut alive = None;
    let captured: Result<Result<CapturedGraph, CaptureError>, _> =
        catch_unwind(AssertUnwindSafe(|| {
            device.capture_scope(|scope| {
                let traced = run(&device);
                inputs = traced.inputs;
                let done = scope.complete(
                    inputs.iter().map(|(_, id)| *id),
                    traced.outputs.iter().filter_map(id),
                );
                alive = Some((traced.alive, traced.outputs));
                done
            })
        }));
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

fn zeros(ty: &TensorType) -> TensorData {
    TensorData::zeros::<f32, _>(ty.shape.clone())
}

fn id(tensor: &DispatchTensor) -> Option<TensorId> {
    match &tensor.kind {
        DispatchTensorKind::Capture(BackendTensor::Float(t) | BackendTensor::Int(t)) => {
            Some(t.id())
        }
        _ => None,
    }
}
