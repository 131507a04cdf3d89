//! Access to the elements of tensors in host memory, which are tensors of burn's backend Flex.

use burn::tensor::{DType, DispatchTensor};
use burn_backend::TensorMetadata;
use burn_dispatch::{BackendTensor, DispatchAutodiffContext, DispatchTensorKind};
use burn_flex::FlexTensor;

/// The Flex tensor of floats or integers; `None` if it is on another device.
pub(crate) fn as_flex(t: &DispatchTensor) -> Option<&FlexTensor> {
    match &t.kind {
        DispatchTensorKind::Flex(BackendTensor::Float(t) | BackendTensor::Int(t)) => Some(t),
        _ => None,
    }
}

/// Wraps a Flex tensor of floats.
pub(crate) fn wrap_float(t: FlexTensor) -> DispatchTensor {
    DispatchTensor {
        kind: DispatchTensorKind::Flex(BackendTensor::Float(t)),
        autodiff: DispatchAutodiffContext::Disabled,
    }
}

/// Wraps a Flex tensor of integers.
pub(crate) fn wrap_int(t: FlexTensor) -> DispatchTensor {
    DispatchTensor {
        kind: DispatchTensorKind::Flex(BackendTensor::Int(t)),
        autodiff: DispatchAutodiffContext::Disabled,
    }
}

/// The values of a tensor of `f32` in host memory, in row-major order. Gives `None` for other tensors, and
/// for a view that is not contiguous.
pub fn floats(t: &DispatchTensor) -> Option<&[f32]> {
    contiguous(as_flex(t)?)
}

fn contiguous(t: &FlexTensor) -> Option<&[f32]> {
    let (start, end) = t.layout().contiguous_offsets()?;
    (t.dtype() == DType::F32).then(|| &t.storage::<f32>()[start..end])
}

/// A copy of the values of a tensor of `f32` in host memory, in row-major order, also of a view. Gives `None`
/// for other tensors.
pub(crate) fn values(t: &DispatchTensor) -> Option<Vec<f32>> {
    let t = as_flex(t)?;
    let values = contiguous(t).map(<[f32]>::to_vec);
    values.or_else(|| contiguous(&t.to_contiguous()).map(<[f32]>::to_vec))
}

/// Copies the tensor if it is a view of a larger host buffer, so that the buffer can be freed.
pub fn compact(t: DispatchTensor) -> DispatchTensor {
    let is_part = as_flex(&t).is_some_and(|t| {
        t.dtype() == DType::F32 && t.storage::<f32>().len() > t.layout().num_elements()
    });
    match is_part.then(|| values(&t)).flatten() {
        Some(values) => super::from_floats(values, t.shape().as_slice(), &t.device()),
        None => t,
    }
}

/// The sizes of a tensor's dimensions.
pub(crate) fn shape(t: &FlexTensor) -> &[usize] {
    t.layout().shape().as_slice()
}

/// Whether a tensor, of any element type, is in host memory.
pub fn is_host(t: &DispatchTensor) -> bool {
    matches!(t.kind, DispatchTensorKind::Flex(_))
}

/// Whether a tensor is an `f32` tensor in host memory, which fedround's kernels can write.
pub(crate) fn is_host_f32(t: &DispatchTensor) -> bool {
    as_flex(t).is_some_and(|t| t.dtype() == DType::F32)
}

/// Unwraps a Flex tensor of floats; `None` for other tensors.
pub(crate) fn into_flex_float(t: DispatchTensor) -> Option<FlexTensor> {
    match t.kind {
        DispatchTensorKind::Flex(BackendTensor::Float(t)) => Some(t),
        _ => None,
    }
}
