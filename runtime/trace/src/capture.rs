//! Runs a function on burn's capture device, and imports the recorded operations as a tensor graph.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use burn::tensor::{Device, DispatchTensor, IntDType, Tensor, TensorData};
use burn_backend::ops::{FloatTensorOps, IntTensorOps};
use burn_dispatch::backends::capture::{CaptureError, CapturedGraph, TensorId};
use burn_dispatch::{BackendTensor, Dispatch, DispatchTensorKind};
use fedround_ir::tensor::{DType, Graph, TensorType};
use fedround_models::CallError;

use crate::import::{ImportError, from_burn};
use crate::panic_message::panic_message;

/// A function could not be traced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The function itself panicked, for instance on a shape that does not fit.
    #[error("{what} cannot be traced: {message}")]
    Panicked {
        /// The traced model, loss or function.
        what: String,
        /// The panic's message.
        message: String,
    },
    /// burn refused the capture.
    #[error("{what} cannot be captured: {source}")]
    Capture {
        /// The traced model, loss or function.
        what: String,
        /// burn's reason.
        source: CaptureFailure,
    },
    /// A result is not on the capture device, so the operations that computed it were not recorded.
    #[error(
        "{what} returns a tensor of another device as result {result}; compute it from the arguments, or create it on their device"
    )]
    NotRecorded {
        /// The traced model, loss or function.
        what: String,
        /// The result's index, from 0.
        result: usize,
    },
    /// A parameter or an argument is not on the capture device, so its uses were not recorded.
    #[error(
        "{what} has its input `{input}` on another device than its arguments; a model moves all of its parameters in `to_device`"
    )]
    InputElsewhere {
        /// The traced model, loss or function.
        what: String,
        /// The name of the parameter, or `x` with the index of the argument.
        input: String,
    },
    /// A function or a loss was called with wrong arguments.
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

/// Traces a function that takes float tensors of the given shapes and gives a scalar. `what` names the function
/// in errors.
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
        let arguments = tensors.iter().map(|t| t.clone().into_dispatch());
        Ok(Recording {
            inputs: with_names(arguments).collect(),
            outputs: vec![f(&tensors).into_dispatch()],
            keep_alive: Box::new(tensors),
        })
    })
}

/// The tensors of a function that has run on the capture device.
pub(crate) struct Recording {
    /// The parameters and arguments by name.
    pub inputs: Vec<(String, DispatchTensor)>,
    /// The results, in order.
    pub outputs: Vec<DispatchTensor>,
    /// Tensors that must not be dropped before the capture ends.
    pub keep_alive: Box<dyn std::any::Any>,
}

/// The capture device. It records one function at a time. burn never frees the number of a capture device, so
/// all traces use the same one.
static CAPTURE_DEVICE: Mutex<Option<Device>> = Mutex::new(None);

/// Runs a function on the capture device, and imports the recorded operations. `what` names the function in
/// errors.
pub(crate) fn trace(
    what: &str,
    run: impl FnOnce(&Device) -> Result<Recording, CallError>,
) -> Result<Graph, TraceError> {
    let mut capture_device = CAPTURE_DEVICE.lock().unwrap_or_else(|e| e.into_inner());
    let device = capture_device.get_or_insert_with(Device::capture).clone();
    let mut settings = device.clone();
    let what = what.to_owned();
    let mut inputs = vec![];
    let (mut keep_alive, mut failure) = (None, None);
    let captured: Result<Result<CapturedGraph, CaptureError>, _> =
        catch_unwind(AssertUnwindSafe(|| {
            device.capture_scope(|scope| {
                // Integers that the function creates, such as a range, get the type of labels. The settings of
                // a device can be set once; later calls give an error, which is ignored.
                let _ = settings.configure(IntDType::I32);
                let recording = run(&device)
                    .map_err(TraceError::from)
                    .and_then(|recording| {
                        let inputs = input_ids(&what, &recording.inputs)?;
                        let outputs = output_ids(&what, &recording.outputs)?;
                        Ok((recording, inputs, outputs))
                    });
                match recording {
                    Ok((recording, input_ids, outputs)) => {
                        inputs = input_ids;
                        let graph = scope.complete(inputs.iter().map(|(_, id)| *id), outputs);
                        keep_alive = Some((recording.keep_alive, recording.outputs));
                        graph
                    }
                    Err(error) => {
                        failure = Some(error);
                        scope.complete([], [])
                    }
                }
            })
        }));
    if let Some(error) = failure {
        return Err(error);
    }
    let captured = captured
        .map_err(|panic| TraceError::Panicked {
            message: panic_message(panic.as_ref()),
            what: what.clone(),
        })?
        .map_err(|source| TraceError::Capture {
            source: CaptureFailure(source),
            what: what.clone(),
        })?;
    drop(keep_alive);
    Ok(from_burn(&what, &captured, &inputs)?)
}

/// The ids of a function's parameters and arguments. It is an error if one is not on the capture device: the
/// imported graph would read a value that nothing defines.
fn input_ids(
    what: &str,
    inputs: &[(String, DispatchTensor)],
) -> Result<Vec<(String, TensorId)>, TraceError> {
    let ids = inputs.iter().map(|(name, tensor)| match id(tensor) {
        Some(id) => Ok((name.clone(), id)),
        None => Err(TraceError::InputElsewhere {
            what: what.to_owned(),
            input: name.clone(),
        }),
    });
    ids.collect()
}

/// The ids of a function's results. It is an error if one is not on the capture device: if it were left out, the
/// results after it would get wrong numbers.
fn output_ids(what: &str, outputs: &[DispatchTensor]) -> Result<Vec<TensorId>, TraceError> {
    let ids = outputs.iter().enumerate().map(|(result, output)| {
        id(output).ok_or_else(|| TraceError::NotRecorded {
            what: what.to_owned(),
            result,
        })
    });
    ids.collect()
}

/// Tensors of zeros of the given types on the capture device, which are the arguments of a traced function.
pub(crate) fn arguments(inputs: &[TensorType], device: &Device) -> Vec<DispatchTensor> {
    let device = device.as_dispatch();
    let zeros = |ty: &TensorType| match ty.dtype {
        DType::F32 => {
            let zeros = TensorData::zeros::<f32, _>(ty.shape.clone());
            Dispatch::float_from_data(zeros, device)
        }
        _ => Dispatch::int_from_data(TensorData::zeros::<i32, _>(ty.shape.clone()), device),
    };
    inputs.iter().map(zeros).collect()
}

/// Names the arguments `x0`, `x1` and so on.
pub(crate) fn with_names(
    arguments: impl IntoIterator<Item = DispatchTensor>,
) -> impl Iterator<Item = (String, DispatchTensor)> {
    let numbered = arguments.into_iter().enumerate();
    numbered.map(|(i, tensor)| (format!("x{i}"), tensor))
}

/// The id of a tensor on the capture device; `None` for a tensor of another device.
fn id(tensor: &DispatchTensor) -> Option<TensorId> {
    match &tensor.kind {
        DispatchTensorKind::Capture(
            BackendTensor::Float(t) | BackendTensor::Int(t) | BackendTensor::Bool(t),
        ) => Some(t.id()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_of_another_device_is_an_error() {
        let constant = |_: &[Tensor<4>]| Tensor::<1>::from_data([1.0], &Device::flex());
        let error = trace_function("the loss", &[[1, 1, 1, 1]], &constant).unwrap_err();
        let expected = "the loss returns a tensor of another device as result 0;";
        assert!(error.to_string().starts_with(expected), "{error}");
        // The capture device still works for the next function.
        trace_function("a sum", &[[1, 1, 2, 1]], &|x| x[0].clone().sum()).unwrap();
    }

    #[test]
    fn an_input_of_another_device_is_an_error() {
        let elsewhere = || Tensor::<1>::from_data([1.0], &Device::flex()).into_dispatch();
        let error_of = |inputs: Vec<(String, DispatchTensor)>| {
            let recording = |device: &Device| {
                Ok(Recording {
                    inputs,
                    outputs: vec![Tensor::<1>::from_data([1.0], device).into_dispatch()],
                    keep_alive: Box::new(()),
                })
            };
            trace("model `m`", recording).unwrap_err().to_string()
        };
        let starts = |input: &str| format!("model `m` has its input `{input}` on another device");
        let parameter = error_of(vec![("conv.weight".to_owned(), elsewhere())]);
        assert!(parameter.starts_with(&starts("conv.weight")), "{parameter}");
        let argument = error_of(with_names([elsewhere()]).collect());
        assert!(argument.starts_with(&starts("x0")), "{argument}");
        // The capture device still works for the next function.
        trace_function("a sum", &[[1, 1, 2, 1]], &|x| x[0].clone().sum()).unwrap();
    }

    #[test]
    fn a_panic_is_an_error() {
        let error = trace_function("f", &[], &|_| panic!("on purpose")).unwrap_err();
        assert_eq!(error.to_string(), "f cannot be traced: on purpose");
    }
}
