//! Computes the element-wise operations of the tensor dialect.

use burn::tensor::{DispatchTensor, Shape};
use burn_backend::ops::{ActivationOps, BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_backend::{FloatDType, IntDType, Scalar, TensorMetadata};
use burn_dispatch::Dispatch;
use fedround_ir::tensor::{Cmp, DType, Op};

use super::{Next, Results, cpu, one, structure};
use crate::tensor::{dtype, host, mask_dtype, round, widen};

pub(super) fn apply(op: &Op, next: Next<'_>) -> Option<Results> {
    let a = next()?;
    if dtype(&a) == DType::I32 {
        return apply_to_integers(op, a, next);
    }
    let scalar = |c: &f64| Scalar::Float(*c);
    one(match op {
        Op::Add => Dispatch::float_add(a, next()?),
        Op::Sub => subtract(a, next()?),
        Op::Mul => Dispatch::float_mul(a, next()?),
        Op::Div => Dispatch::float_div(a, next()?),
        Op::Pow => Dispatch::float_powf(a, next()?),
        Op::AddScalar(c) => Dispatch::float_add_scalar(a, scalar(c)),
        Op::MulScalar(c) => Dispatch::float_mul_scalar(a, scalar(c)),
        Op::Neg => Dispatch::float_neg(a),
        Op::Exp => Dispatch::float_exp(a),
        Op::Log => Dispatch::float_log(a),
        Op::Log1p => Dispatch::float_log1p(a),
        Op::Sqrt => Dispatch::float_sqrt(a),
        Op::PowScalar(c) => Dispatch::float_powf_scalar(a, scalar(c)),
        Op::Abs => Dispatch::float_abs(a),
        Op::Sign => Dispatch::float_sign(a),
        Op::Floor => Dispatch::float_floor(a),
        Op::Sin => Dispatch::float_sin(a),
        Op::Cos => Dispatch::float_cos(a),
        Op::Tanh => Dispatch::float_tanh(a),
        Op::Sigmoid => Dispatch::sigmoid(a),
        Op::Erf => Dispatch::float_erf(a),
        // burn's clamp panics on the CPU if the bounds are in the wrong order.
        Op::Clamp(low, high) if low > high => {
            Dispatch::float_clamp_max(Dispatch::float_clamp_min(a, scalar(low)), scalar(high))
        }
        Op::Clamp(low, high) => Dispatch::float_clamp(a, scalar(low), scalar(high)),
        Op::Relu => Dispatch::relu(a),
        Op::ReluGrad => {
            let g = next()?;
            if host::is_host_f32(&g) {
                cpu::relu_backward(&a, g)?
            } else {
                Dispatch::relu_backward(a, g)
            }
        }
        Op::Axpy(c) => axpy(*c, a, next()?, next()?)?,
        Op::Compare(cmp) => compare(*cmp, a, next()?),
        Op::CompareScalar(cmp, c) => compare_scalar(*cmp, a, scalar(c)),
        Op::And => Dispatch::bool_and(a, next()?),
        Op::Or => Dispatch::bool_or(a, next()?),
        Op::Not => Dispatch::bool_not(a),
        Op::Where => select_by_mask(a, next()?, next()?),
        Op::StopGradient => a,
        Op::Cast(to) => match (dtype(&a), to) {
            (DType::F32, DType::BF16) => round(a, FloatDType::BF16),
            (DType::F32, DType::F16) => round(a, FloatDType::F16),
            (DType::F32, DType::F32) => widen(a),
            (DType::F32, DType::I32) => Dispatch::float_into_int(a, IntDType::I32),
            (DType::F32, DType::Bool) => {
                let mask = mask_dtype(&a);
                Dispatch::float_not_equal_elem(a, Scalar::Float(0.0), mask)
            }
            (DType::Bool, DType::F32) => Dispatch::bool_into_float(a, FloatDType::F32),
            (DType::Bool, DType::I32) => Dispatch::bool_into_int(a, IntDType::I32),
            _ => a,
        },
        _ => return None,
    })
}

/// The element-wise ops whose first operand is a tensor of integers.
fn apply_to_integers(op: &Op, a: DispatchTensor, next: Next<'_>) -> Option<Results> {
    let mask = mask_dtype(&a);
    let scalar = |c: &f64| Scalar::Int(*c as i64);
    one(match op {
        Op::Add => Dispatch::int_add(a, next()?),
        Op::Sub => Dispatch::int_sub(a, next()?),
        Op::Mul => Dispatch::int_mul(a, next()?),
        Op::AddScalar(c) => Dispatch::int_add_scalar(a, scalar(c)),
        Op::MulScalar(c) => Dispatch::int_mul_scalar(a, scalar(c)),
        Op::Neg => Dispatch::int_neg(a),
        Op::Compare(cmp) => {
            let b = next()?;
            match cmp {
                Cmp::Equal => Dispatch::int_equal(a, b, mask),
                Cmp::NotEqual => Dispatch::int_not_equal(a, b, mask),
                Cmp::Greater => Dispatch::int_greater(a, b, mask),
                Cmp::GreaterEqual => Dispatch::int_greater_equal(a, b, mask),
                Cmp::Less => Dispatch::int_lower(a, b, mask),
                Cmp::LessEqual => Dispatch::int_lower_equal(a, b, mask),
            }
        }
        Op::CompareScalar(cmp, c) => {
            let c = scalar(c);
            match cmp {
                Cmp::Equal => Dispatch::int_equal_elem(a, c, mask),
                Cmp::NotEqual => Dispatch::int_not_equal_elem(a, c, mask),
                Cmp::Greater => Dispatch::int_greater_elem(a, c, mask),
                Cmp::GreaterEqual => Dispatch::int_greater_equal_elem(a, c, mask),
                Cmp::Less => Dispatch::int_lower_elem(a, c, mask),
                Cmp::LessEqual => Dispatch::int_lower_equal_elem(a, c, mask),
            }
        }
        Op::Cast(DType::F32) => Dispatch::int_into_float(a, FloatDType::F32),
        Op::Cast(DType::Bool) => Dispatch::int_not_equal_elem(a, Scalar::Int(0), mask),
        Op::Cast(DType::I32) | Op::StopGradient => a,
        _ => return None,
    })
}

/// `a − b`. On GPUs it is computed as `a + (−1) b`, which is the same number.
///
/// cubecl 0.11.0 could not compile `x − x`. That op appears if both operands are the same tensor, as a
/// client's model and the model that it received are in the client's first step. By its source, cubecl
/// 0.11.3 can compile it, but the GPU tests have not run without this detour. If one operand is broadcast,
/// the two are different tensors, so the detour is not needed; it would also end a fused kernel, because
/// the product has another shape.
fn subtract(a: DispatchTensor, b: DispatchTensor) -> DispatchTensor {
    if host::is_host_f32(&a) || a.shape() != b.shape() {
        return Dispatch::float_sub(a, b);
    }
    Dispatch::float_add(a, Dispatch::float_mul_scalar(b, Scalar::Float(-1.0)))
}

fn axpy(c: f64, y: DispatchTensor, s: DispatchTensor, x: DispatchTensor) -> Option<DispatchTensor> {
    if host::is_host_f32(&y) {
        return cpu::axpy(y, c, &s, &x);
    }
    let ones = Shape::from(vec![1; x.shape().num_dims()]);
    let s = Dispatch::float_mul_scalar(s, Scalar::Float(c));
    let step = Dispatch::float_mul(x, Dispatch::float_reshape(s, ones));
    Some(Dispatch::float_add(y, step))
}

fn compare(cmp: Cmp, a: DispatchTensor, b: DispatchTensor) -> DispatchTensor {
    let mask = mask_dtype(&a);
    match cmp {
        Cmp::Equal => Dispatch::float_equal(a, b, mask),
        Cmp::NotEqual => Dispatch::float_not_equal(a, b, mask),
        Cmp::Greater => Dispatch::float_greater(a, b, mask),
        Cmp::GreaterEqual => Dispatch::float_greater_equal(a, b, mask),
        Cmp::Less => Dispatch::float_lower(a, b, mask),
        Cmp::LessEqual => Dispatch::float_lower_equal(a, b, mask),
    }
}

fn compare_scalar(cmp: Cmp, a: DispatchTensor, c: Scalar) -> DispatchTensor {
    let mask = mask_dtype(&a);
    match cmp {
        Cmp::Equal => Dispatch::float_equal_elem(a, c, mask),
        Cmp::NotEqual => Dispatch::float_not_equal_elem(a, c, mask),
        Cmp::Greater => Dispatch::float_greater_elem(a, c, mask),
        Cmp::GreaterEqual => Dispatch::float_greater_equal_elem(a, c, mask),
        Cmp::Less => Dispatch::float_lower_elem(a, c, mask),
        Cmp::LessEqual => Dispatch::float_lower_equal_elem(a, c, mask),
    }
}

/// `a` where the mask is set, and `b` elsewhere, all three broadcast to one shape.
fn select_by_mask(mask: DispatchTensor, a: DispatchTensor, b: DispatchTensor) -> DispatchTensor {
    let (m, x, y) = (mask.shape(), a.shape(), b.shape());
    let dims = m.iter().zip(x.iter()).zip(y.iter());
    let widest = |((m, x), y): ((&usize, &usize), &usize)| match (*m, *x, *y) {
        (1, 1, n) | (1, n, _) | (n, _, _) => n,
    };
    let shape: Vec<usize> = dims.map(widest).collect();
    let [mask, a, b] = [mask, a, b].map(|t| structure::expand(t, &shape));
    if dtype(&a) == DType::I32 {
        Dispatch::int_mask_where(b, mask, a)
    } else {
        Dispatch::float_mask_where(b, mask, a)
    }
}
