//! 16-bit floats: stored as such on GPUs, and as rounded `f32` in host memory, whose kernels know no
//! others.

use burn::tensor::{DType, DispatchTensor, bf16, f16};
use burn_backend::ops::FloatTensorOps;
use burn_backend::{FloatDType, TensorMetadata};
use burn_dispatch::Dispatch;

use super::from_floats;
use super::host;

/// Rounds to the nearest 16-bit floats, ties to even.
pub(crate) fn round(t: DispatchTensor, to: FloatDType) -> DispatchTensor {
    // burn's cast goes through `f64`, of which `half` drops the last digits: what is just above the
    // middle of two numbers becomes a tie there.
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
