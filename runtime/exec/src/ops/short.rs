//! 16-bit floats: stored as such on GPUs, as rounded `f32` in host memory, whose kernels know no
//! others.

use burn::tensor::{DType, DispatchTensor};
use burn_backend::ops::FloatTensorOps;
use burn_backend::{FloatDType, TensorMetadata};
use burn_dispatch::Dispatch;

use crate::flex;

/// The nearest 16-bit floats, ties to even.
pub(super) fn round(t: DispatchTensor, to: FloatDType) -> DispatchTensor {
    let host = flex::is_host(&t);
    let short = Dispatch::float_cast(t, to);
    if host { widen(short) } else { short }
}

/// The same numbers as `f32`.
pub(super) fn widen(t: DispatchTensor) -> DispatchTensor {
    if t.dtype() == DType::F32 {
        t
    } else {
        Dispatch::float_cast(t, FloatDType::F32)
    }
}
