//! Rounds tensors to 16-bit floats. GPUs store them as such. In host memory they are stored as rounded
//! `f32`, the only float type of fedround's CPU kernels.

use burn::tensor::{DType, DispatchTensor, bf16, f16};
use burn_backend::ops::FloatTensorOps;
use burn_backend::{FloatDType, TensorMetadata};
use burn_dispatch::Dispatch;

use super::from_floats;
use super::host;

/// Rounds to the nearest 16-bit floats, ties to even.
pub(crate) fn round(t: DispatchTensor, to: FloatDType) -> DispatchTensor {
    // burn's cast on the CPU goes through `f64`, and `half` drops the last bits of that. A number just above
    // the middle between two 16-bit floats would become a tie and might be rounded down.
    let nearest = |x: f32| match to {
        FloatDType::BF16 => bf16::from_f32(x).to_f32(),
        _ => f16::from_f32(x).to_f32(),
    };
    let (shape, device) = (t.shape(), t.device());
    match host::values(&t) {
        Some(values) => {
            let rounded = values.into_iter().map(nearest).collect();
            from_floats(rounded, shape.as_slice(), &device)
        }
        None => Dispatch::float_cast(t, to),
    }
}

/// The same numbers as `f32`.
pub(crate) fn widen(t: DispatchTensor) -> DispatchTensor {
    if t.dtype() == DType::F32 {
        t
    } else {
        Dispatch::float_cast(t, FloatDType::F32)
    }
}
