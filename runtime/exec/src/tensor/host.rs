//! Tensors in host memory: access to their elements.

use burn::tensor::{DType, DispatchTensor};
use burn_backend::TensorMetadata;
use burn_dispatch::{BackendTensor, DispatchAutodiffContext, DispatchTensorKind};
use burn_flex::FlexTensor;

/// The tensor of floats or integers, if it is in host memory.
pub(crate) fn peek(t: &DispatchTensor) -> Option<&FlexTensor> {
    match &t.kind {
        DispatchTensorKind::Flex(BackendTensor::Float(t) | BackendTensor::Int(t)) => Some(t),
        _ => None,
    }
}

/// A tensor of floats in host memory.
pub(crate) fn float(t: FlexTensor) -> DispatchTensor {
    DispatchTensor {
        kind: DispatchTensorKind::Flex(BackendTensor::Float(t)),
        autodiff: DispatchAutodiffContext::Disabled,
    }
}

/// A tensor of integers in host memory.
pub(crate) fn int(t: FlexTensor) -> DispatchTensor {
    DispatchTensor {
        kind: DispatchTensorKind::Flex(BackendTensor::Int(t)),
        autodiff: DispatchAutodiffContext::Disabled,
    }
}

/// The values of a tensor of `f32` in host memory, in row-major order; `None` for other tensors, and
/// for a view that is not contiguous.
pub fn floats(t: &DispatchTensor) -> Option<&[f32]> {
    contiguous(peek(t)?)
}

fn contiguous(t: &FlexTensor) -> Option<&[f32]> {
    let (start, end) = t.layout().contiguous_offsets()?;
    (t.dtype() == DType::F32).then(|| &t.storage::<f32>()[start..end])
}

/// The values of a tensor of `f32` in host memory, in row-major order, of views too; `None` if it is
/// elsewhere.
pub(crate) fn values(t: &DispatchTensor) -> Option<Vec<f32>> {
    let t = peek(t)?;
    let values = contiguous(t).map(<[f32]>::to_vec);
    values.or_else(|| contiguous(&t.to_contiguous()).map(<[f32]>::to_vec))
}

/// Copies the tensor if it is a view of a larger host buffer, so that the buffer can be freed.
pub fn compact(t: DispatchTensor) -> DispatchTensor {
    let part = peek(&t).is_some_and(|own| {
        own.dtype() == DType::F32 && own.storage::<f32>().len() > own.layout().num_elements()
    });
    match part.then(|| values(&t)).flatten() {
        Some(values) => super::from_floats(values, t.shape().as_slice(), &t.device()),
        None => t,
    }
}

/// The sizes of a tensor.
pub(crate) fn shape(t: &FlexTensor) -> &[usize] {
    t.layout().shape().as_slice()
}

/// Whether a tensor, of any element type, is in host memory.
pub fn is_host(t: &DispatchTensor) -> bool {
    matches!(t.kind, DispatchTensorKind::Flex(_))
}

/// Whether a tensor is one of `f32` in host memory, which fedround's kernels can write.
pub(crate) fn holds(t: &DispatchTensor) -> bool {
    peek(t).is_some_and(|t| t.dtype() == DType::F32)
}

/// Takes a tensor of floats in host memory; `None` if it is elsewhere.
pub(crate) fn take(t: DispatchTensor) -> Option<FlexTensor> {
    match t.kind {
        DispatchTensorKind::Flex(BackendTensor::Float(t)) => Some(t),
        _ => None,
    }
}
