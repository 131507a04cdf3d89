//! Computes the ops that move, select and sum elements.
//!
//! Several functions here work around burn-fusion, which fuses ops on GPUs: it misreads some tensors with
//! dimensions of size 1, and decides by fixed rules where a kernel begins and ends.

use burn::tensor::{DispatchTensor, IndexingUpdateOp, Shape, Slice};
use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_backend::{Backend, IntDType, Scalar, TensorMetadata};
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_ir::tensor::{DType, Op};

use super::{Next, Results, cpu, one};
use crate::tensor::{CONCAT_LIMIT, dtype, host};

/// Calls burn's function for the element type of `$t`.
macro_rules! by_dtype {
    ($t:ident, $float:ident, $int:ident, $bool:ident, ($($arg:expr),*)) => {
        match dtype(&$t) {
            DType::F32 | DType::BF16 | DType::F16 => Dispatch::$float($($arg),*),
            DType::I32 => Dispatch::$int($($arg),*),
            DType::Bool => Dispatch::$bool($($arg),*),
        }
    };
}

pub(super) fn apply(op: &Op, device: &DispatchDevice, next: Next<'_>) -> Option<Results> {
    let a = next()?;
    one(match op {
        Op::Reshape(shape) => reshape(a, shape.clone()),
        Op::Permute(axes) => permute(a, axes),
        Op::Flip(axes) => by_dtype!(a, float_flip, int_flip, bool_flip, (a, axes)),
        Op::Expand(shape) => expand(a, shape),
        Op::Slice(ranges) => {
            by_dtype!(a, float_slice, int_slice, bool_slice, (a, &slices(ranges)))
        }
        Op::SliceAssign(ranges) => Dispatch::float_slice_assign(a, &slices(ranges), next()?),
        Op::Cat(d) => {
            let mut tensors = vec![a];
            tensors.extend(std::iter::from_fn(next));
            if tensors.iter().all(host::is_host) {
                concat(tensors, *d)
            } else {
                concat_on_gpu(tensors, *d)
            }
        }
        Op::Sum => Dispatch::float_sum(a),
        Op::Dot => {
            let b = next()?;
            cpu::dot(&a, &b, device)
                .unwrap_or_else(|| Dispatch::float_sum(Dispatch::float_mul(a, b)))
        }
        Op::SumDim(d) => Dispatch::float_sum_dim(a, *d),
        Op::Mean => Dispatch::float_mean(a),
        Op::MeanDim(d) => Dispatch::float_mean_dim(a, *d),
        Op::MaxDim(d) => {
            let (max, indices) = Dispatch::float_max_dim_with_indices(a, *d, IntDType::I32);
            return Some((max, Some(indices)));
        }
        Op::CumSum {
            dim,
            reverse: false,
        } => Dispatch::float_cumsum(a, *dim),
        Op::CumSum { dim, reverse: true } => {
            let flipped = Dispatch::float_flip(a, &[*dim]);
            Dispatch::float_flip(Dispatch::float_cumsum(flipped, *dim), &[*dim])
        }
        Op::Gather(d) => {
            by_dtype!(a, float_gather, int_gather, bool_gather, (*d, a, next()?))
        }
        Op::ScatterAdd(d) => {
            Dispatch::float_scatter(*d, a, next()?, next()?, IndexingUpdateOp::Add)
        }
        Op::Select(d) => {
            by_dtype!(a, float_select, int_select, bool_select, (a, *d, next()?))
        }
        Op::SelectAdd(d) => {
            Dispatch::float_select_assign(a, *d, next()?, next()?, IndexingUpdateOp::Add)
        }
        _ => return None,
    })
}

/// Permutes the dimensions. If only dimensions of size 1 move, the order of the elements does not change,
/// and the op becomes a reshape, because burn-fusion misreads such a permutation (see
/// [`with_channel_second`]).
fn permute(t: DispatchTensor, axes: &[usize]) -> DispatchTensor {
    let shape = t.shape().as_slice().to_vec();
    let long_axes = axes.iter().filter(|&&axis| shape[axis] != 1);
    // A permutation that moves nothing stays one: it ends a fused kernel, which the pass `fusion-order`
    // relies on.
    if long_axes.is_sorted() && !axes.is_sorted() {
        return reshape(t, axes.iter().map(|&axis| shape[axis]).collect());
    }
    by_dtype!(t, float_permute, int_permute, bool_permute, (t, axes))
}

/// The same images, `[n, c, h, w]`, with row-major strides if they have one channel.
///
/// On GPUs, burn's layers return tensors whose channels are last in memory. For one channel the elements
/// have the same order either way, but burn-fusion takes the unusual stride of that dimension for another
/// order. It then misreads the other tensors of a fused kernel.
pub(super) fn with_channel_second(images: DispatchTensor) -> DispatchTensor {
    match *images.shape().as_slice() {
        [n, 1, h, w] if !host::is_host(&images) => {
            reshape(reshape(images, vec![n, h, w]), vec![n, 1, h, w])
        }
        _ => images,
    }
}

/// Concatenates tensors along the dimension `d`.
fn concat(tensors: Vec<DispatchTensor>, d: usize) -> DispatchTensor {
    match tensors.first().map(dtype) {
        Some(DType::I32) => Dispatch::int_cat(tensors, d),
        Some(DType::Bool) => Dispatch::bool_cat(tensors, d),
        _ => Dispatch::float_cat(tensors, d),
    }
}

/// Concatenates any number of tensors on a GPU, [`CONCAT_LIMIT`] of them in one kernel, then the results of
/// those kernels.
fn concat_on_gpu(mut tensors: Vec<DispatchTensor>, d: usize) -> DispatchTensor {
    while tensors.len() > CONCAT_LIMIT {
        let chunks = tensors.chunks(CONCAT_LIMIT);
        let chunks = chunks.map(<[DispatchTensor]>::to_vec);
        tensors = chunks.map(|chunk| concat_and_flush(chunk, d)).collect();
    }
    concat_squeezed(tensors, d)
}

/// [`concat_squeezed`], and a flush, which keeps burn-fusion from fusing the concatenation with later ops.
fn concat_and_flush(tensors: Vec<DispatchTensor>, d: usize) -> DispatchTensor {
    let result = concat_squeezed(tensors, d);
    // If the flush fails, the next read from the device reports the error.
    _ = Dispatch::flush(&result.device());
    result
}

/// Concatenates tensors after dropping all other dimensions of size 1, which are put back afterwards.
///
/// With those dimensions, burn-fusion may take the result for a broadcast operand of a fused kernel, such
/// as `[3, 8]` for `[3, 1]`, and gives zeros.
fn concat_squeezed(tensors: Vec<DispatchTensor>, d: usize) -> DispatchTensor {
    let shapes = tensors.iter().map(|t| t.shape().as_slice().to_vec());
    let shapes: Vec<Vec<usize>> = shapes.collect();
    let Some(mut shape) = shapes.first().cloned() else {
        return concat(tensors, d);
    };
    let stays = |i: usize| i == d || shape[i] != 1;
    if (0..shape.len()).all(stays) {
        return concat(tensors, d);
    }
    let squeezed = tensors.into_iter().zip(&shapes).map(|(t, dims)| {
        let dims = (0..dims.len()).filter(|&i| stays(i)).map(|i| dims[i]);
        reshape(t, dims.collect())
    });
    let squeezed_d = (0..d).filter(|&i| stays(i)).count();
    let result = concat(squeezed.collect(), squeezed_d);
    shape[d] = shapes.iter().map(|dims| dims[d]).sum();
    reshape(result, shape)
}

fn reshape(t: DispatchTensor, shape: Vec<usize>) -> DispatchTensor {
    let shape = Shape::from(shape);
    by_dtype!(t, float_reshape, int_reshape, bool_reshape, (t, shape))
}

/// On GPUs, adds two ops that change no value and make burn-fusion start a new kernel for the reduction
/// that follows.
///
/// burn-fusion fuses the ops around a reduction only if an op comes before it in the same kernel: here a
/// multiplication by 1. It ends the previous kernel at a view: here a permutation that moves nothing.
pub(super) fn start_reduction_kernel(t: DispatchTensor) -> DispatchTensor {
    if host::is_host(&t) {
        return t;
    }
    let axes: Vec<usize> = (0..t.shape().num_dims()).collect();
    Dispatch::float_mul_scalar(Dispatch::float_permute(t, &axes), Scalar::Float(1.0))
}

/// Broadcasts dimensions of size 1 to the sizes of `shape`.
pub(super) fn expand(t: DispatchTensor, shape: &[usize]) -> DispatchTensor {
    if t.shape().as_slice() == shape {
        return t;
    }
    let shape = Shape::from(shape.to_vec());
    by_dtype!(t, float_expand, int_expand, bool_expand, (t, shape))
}

fn slices(ranges: &[(usize, usize)]) -> Vec<Slice> {
    let slice = |&(a, b): &(usize, usize)| Slice::new(a as isize, Some(b as isize), 1);
    ranges.iter().map(slice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops;
    use crate::tensor::{from_floats, read};

    /// In a build with a GPU feature, the default device is a GPU.
    #[test]
    fn any_number_of_tensors_are_concatenated() {
        let device = DispatchDevice::default();
        for n in [2, 16, 17, 70, 300] {
            let row = |i: usize| vec![i as f32, 0.5, -(i as f32)];
            let rows = (0..n).map(|i| from_floats(row(i), &[3], &device));
            let mut rows = rows.map(|t| reshape(t, vec![1, 3]));
            let result = ops::apply(&Op::Cat(0), &device, || rows.next()).unwrap().0;
            let found = read(result).unwrap();
            let expected: Vec<f32> = (0..n).flat_map(row).collect();
            assert!(found == expected, "{n} tensors");
        }
    }
}
