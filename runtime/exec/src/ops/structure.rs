//! Ops that move, select and sum elements.

use burn::tensor::{DispatchTensor, IndexingUpdateOp, Shape, Slice};
use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_backend::{Backend, IntDType, Scalar, TensorMetadata};
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_ir::tensor::{DType, Op};

use super::{Next, Results, cpu, one};
use crate::tensor::{CONCAT_LIMIT, dtype, host};

/// Calls the function of the operand's element type.
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
            let mut all = vec![a];
            all.extend(std::iter::from_fn(next));
            if all.iter().all(host::is_host) {
                joined(all, *d)
            } else {
                joined_in_turns(all, *d)
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
            let (max, at) = Dispatch::float_max_dim_with_indices(a, *d, IntDType::I32);
            return Some((max, Some(at)));
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

/// Where only dimensions of size 1 move, the elements stay in their order: a reshape. See [`in_order`].
fn permute(t: DispatchTensor, axes: &[usize]) -> DispatchTensor {
    let shape = t.shape().as_slice().to_vec();
    let moved = axes.iter().filter(|&&axis| shape[axis] != 1);
    // A view of the dimensions as they are ends a kernel: see the pass `fusion-order`.
    if moved.is_sorted() && !axes.is_sorted() {
        return reshape(t, axes.iter().map(|&axis| shape[axis]).collect());
    }
    by_dtype!(t, float_permute, int_permute, bool_permute, (t, axes))
}

/// Images of one channel, with the channel where their memory has it. On GPUs, burn's layers put it
/// last in memory. burn-fusion takes a dimension of size 1 that is out of its place for another order
/// of the elements, and misreads the tensors beside it if it makes one kernel of several ops.
pub(super) fn in_order(images: DispatchTensor) -> DispatchTensor {
    match *images.shape().as_slice() {
        [n, 1, h, w] if !host::is_host(&images) => {
            reshape(reshape(images, vec![n, h, w]), vec![n, 1, h, w])
        }
        _ => images,
    }
}

fn joined(all: Vec<DispatchTensor>, d: usize) -> DispatchTensor {
    match all.first().map(dtype) {
        Some(DType::I32) => Dispatch::int_cat(all, d),
        Some(DType::Bool) => Dispatch::bool_cat(all, d),
        _ => Dispatch::float_cat(all, d),
    }
}

/// [`joined_apart`], of any number of tensors.
fn joined_in_turns(mut all: Vec<DispatchTensor>, d: usize) -> DispatchTensor {
    while all.len() > CONCAT_LIMIT {
        let some = all.chunks(CONCAT_LIMIT).map(<[DispatchTensor]>::to_vec);
        all = some.map(|some| joined_alone(some, d)).collect();
    }
    joined_apart(all, d)
}

/// [`joined_apart`], in no kernel with what follows.
fn joined_alone(all: Vec<DispatchTensor>, d: usize) -> DispatchTensor {
    let joined = joined_apart(all, d);
    // What fails is said by the read that misses it.
    _ = Dispatch::flush(&joined.device());
    joined
}

/// [`joined`], without dimensions of size 1 on the way: where burn-fusion puts a concatenation into a
/// kernel of elements that it takes for a broadcast of it, as `[3, 8]` beside `[3, 1]`, the result
/// is zeros.
fn joined_apart(all: Vec<DispatchTensor>, d: usize) -> DispatchTensor {
    let shapes: Vec<Vec<usize>> = all.iter().map(|t| t.shape().as_slice().to_vec()).collect();
    let Some(mut shape) = shapes.first().cloned() else {
        return joined(all, d);
    };
    let kept = |i: usize| i == d || shape[i] != 1;
    if (0..shape.len()).all(kept) {
        return joined(all, d);
    }
    let narrow = all.into_iter().zip(&shapes).map(|(t, own)| {
        let left = (0..own.len()).filter(|&i| kept(i)).map(|i| own[i]);
        reshape(t, left.collect())
    });
    let at = (0..d).filter(|&i| kept(i)).count();
    let result = joined(narrow.collect(), at);
    shape[d] = shapes.iter().map(|own| own[d]).sum();
    reshape(result, shape)
}

fn reshape(t: DispatchTensor, shape: Vec<usize>) -> DispatchTensor {
    let shape = Shape::from(shape);
    by_dtype!(t, float_reshape, int_reshape, bool_reshape, (t, shape))
}

/// On GPUs, what begins a kernel that has a reduction in it: burn-fusion takes the ops around a
/// reduction into its kernel only if one comes before it, here a product with 1, and ends the kernel
/// before at a view, here of the dimensions as they are.
pub(super) fn begun(t: DispatchTensor) -> DispatchTensor {
    if host::is_host(&t) {
        return t;
    }
    let axes: Vec<usize> = (0..t.shape().num_dims()).collect();
    Dispatch::float_mul_scalar(Dispatch::float_permute(t, &axes), Scalar::Float(1.0))
}

/// Repeats dimensions of size 1.
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

    /// The default device of a build with one is a GPU.
    #[test]
    fn any_number_of_tensors_are_joined() {
        let device = DispatchDevice::default();
        for n in [2, 16, 17, 70, 300] {
            let row = |i: usize| vec![i as f32, 0.5, -(i as f32)];
            let rows = (0..n).map(|i| from_floats(row(i), &[3], &device));
            let mut lifted = rows.map(|t| reshape(t, vec![1, 3]));
            let joined = ops::apply(&Op::Cat(0), &device, || lifted.next())
                .unwrap()
                .0;
            let found = read(joined).unwrap();
            let expected: Vec<f32> = (0..n).flat_map(row).collect();
            assert!(found == expected, "{n} tensors");
        }
    }
}
