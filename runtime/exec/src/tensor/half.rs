//! 16-bit floats: stored as such on GPUs, as rounded `f32` in host memory, whose kernels know no
//! others.

use burn::tensor::{DType, DispatchTensor, bf16, f16};
use burn_backend::ops::FloatTensorOps;
use burn_backend::{FloatDType, TensorMetadata};
use burn_dispatch::Dispatch;

use super::from_floats;
use super::host::{floats, is_host};

/// The nearest 16-bit floats, ties to even.
pub(super) fn round(t: DispatchTensor, to: FloatDType) -> DispatchTensor {
    if !is_host(&t) {
        return Dispatch::float_cast(t, to);
    }
    // burn's cast goes through `f64`, of which `half` drops the last digits: what is just above the
    // middle of two numbers is a tie there.
    let (shape, device) = (t.shape(), t.device());
    let nearest = |x: f32| match to {
        FloatDType::BF16 => bf16::from_f32(x).to_f32(),
        _ => f16::from_f32(x).to_f32(),
    };
    let rounded = values(t).into_iter().map(nearest).collect();
    tensor(rounded, shape.as_slice(), &device)
}

/// The same numbers as `f32`.
pub(super) fn widen(t: DispatchTensor) -> DispatchTensor {
    if t.dtype() == DType::F32 {
        t
    } else {
        Dispatch::float_cast(t, FloatDType::F32)
    }
}
