//! Ops that move, select and sum elements.

use burn::tensor::{DispatchTensor, Shape, Slice};
use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_backend::{IntDType, TensorMetadata};
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_ir::tensor::{DType, Op};

use super::{Next, Results, dtype, one};
use crate::flex;

/// Calls the function of the operand's element type.
macro_rules! by_dtype {
    ($t:ident, $float:ident, $int:ident, $bool:ident, ($($arg:expr),*)) => {
        match dtype(&$t) {
            DType::F32 => Dispatch::$float($($arg),*),
            DType::I32 => Dispatch::$int($($arg),*),
            DType::Bool => Dispatch::$bool($($arg),*),
        }
    };
}

pub(super) fn apply(op: &Op, device: &DispatchDevice, next: Next<'_>) -> Option<Results> {
    let a = next()?;
    one(match op {
        Op::Reshape(shape) => {
            let shape = Shape::from(shape.clone());
            by_dtype!(a, float_reshape, int_reshape, bool_reshape, (a, shape))
        }
        Op::Permute(axes) => by_dtype!(a, float_permute, int_permute, bool_permute, (a, axes)),
        Op::Flip(axes) => by_dtype!(a, float_flip, int_flip, bool_flip, (a, axes)),
        Op::Expand(shape) => expand(a, shape),
        Op::Slice(ranges) => {
            by_dtype!(a, float_slice, int_slice, bool_slice, (a, &slices(ranges)))
        }
        Op::SliceAssign(ranges) => Dispatch::float_slice_assign(a, &slices(ranges), next()?),
        Op::Cat(d) => {
            let kind = dtype(&a);
            let mut all = vec![a];
            all.extend(std::iter::from_fn(next));
            match kind {
                DType::F32 => Dispatch::float_cat(all, *d),
                DType::I32 => Dispatch::int_cat(all, *d),
                DType::Bool => Dispatch::bool_cat(all, *d),
            }
        }
        Op::Sum => Dispatch::float_sum(a),
        Op::Dot => {
            let b = next()?;
            flex::dot(&a, &b, device)
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
        Op::ScatterAdd(d) => Dispatch::float_scatter_add(*d, a, next()?, next()?),
        Op::Select(d) => {
            by_dtype!(a, float_select, int_select, bool_select, (a, *d, next()?))
        }
        Op::SelectAdd(d) => Dispatch::float_select_add(a, *d, next()?, next()?),
        _ => return None,
    })
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
