//! One function, captured.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use burn::tensor::{Device, DispatchTensor, Tensor, TensorData};
use burn_dispatch::backends::capture::{CaptureError, CapturedGraph, TensorId};
use burn_dispatch::{BackendTensor, DispatchTensorKind};
use fedround_ir::tensor::{DType, Graph, TensorType};
use fedround_models::{AnyTensor, CallError};

use crate::device::words;
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
pub(super) struct Traced {
    pub inputs: Vec<(String, TensorId)>,
    pub outputs: Vec<DispatchTensor>,
    pub alive: Box<dyn std::any::Any>,
}

/// Capture devices are numbered for the life of the process and take one scope at a time, so one
/// is reused.
static CAPTURE: Mutex<Option<Device>> = Mutex::new(None);

/// Runs a function on the capture device.
pub(super) fn trace(
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
            message: words(panic.as_ref()),
            what: what.clone(),
        })?
        .map_err(|source| TraceError::Capture {
            source: CaptureFailure(source),
            what: what.clone(),
        })?;
    drop(alive);
    Ok(from_burn(&what, &captured, &inputs)?)
}

/// Placeholders for what a function is given, with their ids.
pub(super) fn arguments(
    inputs: &[TensorType],
    device: &Device,
    named: &mut Vec<(String, TensorId)>,
) -> Vec<AnyTensor> {
    let device = device.as_dispatch();
    let tensors = inputs.iter().enumerate().map(|(i, ty)| {
        let zeros = match ty.dtype {
            DType::F32 => ops::tensor(vec![0.0; ty.len()], &ty.shape, device),
            _ => ops::ints(vec![0; ty.len()], &ty.shape, device),
        };
        named.extend(id(&zeros).map(|id| (format!("x{i}"), id)));
        AnyTensor::from(zeros)
    });
    tensors.collect()
}

/// The capture device's number of a tensor of its own.
pub(super) fn id(tensor: &DispatchTensor) -> Option<TensorId> {
    match &tensor.kind {
        DispatchTensorKind::Capture(BackendTensor::Float(t) | BackendTensor::Int(t)) => {
            Some(t.id())
        }
        _ => None,
    }
}
