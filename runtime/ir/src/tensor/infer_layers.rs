//! Result types of ops that index, convolve and pool.

use super::operands::{Inferred, check, dim, expect, factors, floats, one, operands};
use super::shapes::{conv2d, pool2d};
use super::{DType, Op, TensorType};

pub(super) fn result_types(op: &Op, ins: &[&TensorType]) -> Inferred {
    const CONV: &str = "x [n, c, h, w] and w [o, c / groups, kh, kw] that fit";
    const POOL: &str = "x [n, c, h, w] no smaller than the window";
    match op {
        Op::Gather(d) => {
            let [a, i] = operands(ins)?;
            dim(a, *d)?;
            let fit = i.dtype == DType::I32 && fits_but(&i.shape, &a.shape, *d);
            check(fit, "a tensor and integer indices of its rank")?;
            one(a.dtype, i.shape.clone())
        }
        Op::ScatterAdd(d) => {
            let [a, i, v] = operands(ins)?;
            dim(a, *d)?;
            let fit = i.dtype == DType::I32
                && a.dtype == DType::F32
                && v.dtype == DType::F32
                && i.shape == v.shape
                && fits_but(&i.shape, &a.shape, *d);
            check(fit, "a tensor, integer indices and values of their shape")?;
            Ok(vec![a.clone()])
        }
        Op::Select(d) => {
            let [a, i] = operands(ins)?;
            dim(a, *d)?;
            let fit = i.dtype == DType::I32 && i.shape.len() == 1;
            check(fit, "a tensor and a row of integer indices")?;
            let mut shape = a.shape.clone();
            shape[*d] = i.shape[0];
            one(a.dtype, shape)
        }
        Op::SelectAdd(d) => {
            let [a, i, v] = operands(ins)?;
            dim(a, *d)?;
            let mut shape = a.shape.clone();
            let fit = a.dtype == DType::F32 && i.dtype == DType::I32 && i.shape.len() == 1;
            shape[*d] = if fit { i.shape[0] } else { 0 };
            let fit = fit && *v == TensorType::f32(shape);
            check(
                fit,
                "a tensor, a row of integer indices and one entry for each",
            )?;
            Ok(vec![a.clone()])
        }
        Op::Conv2d(options) => {
            let (&[x, w], bias) = expect(ins.split_first_chunk::<2>(), CONV)?;
            factors(&[x, w])?;
            let shape = expect(conv2d(options, &x.shape, &w.shape), CONV)?;
            let fit = match bias {
                [] => true,
                [b] => **b == TensorType::f32([shape[1]]),
                _ => false,
            };
            check(fit, "a bias of one number for each filter")?;
            one(DType::F32, shape)
        }
        Op::Conv2dInputGrad(options, shape) => {
            let [w, g] = factors(ins)?;
            let fit = conv2d(options, shape, &w.shape).filter(|y| *y == g.shape);
            expect(
                fit,
                format!("a weight and a result of a convolution of {shape:?}"),
            )?;
            one(DType::F32, shape.clone())
        }
        Op::Conv2dWeightGrad(options, shape) => {
            let [x, g] = factors(ins)?;
            let fit = conv2d(options, &x.shape, shape).filter(|y| *y == g.shape);
            expect(
                fit,
                format!("an input and a result of a convolution with {shape:?}"),
            )?;
            one(DType::F32, shape.clone())
        }
        Op::MaxPool2d(options) => {
            let [x] = floats(ins)?;
            let shape = expect(pool2d(options, &x.shape), POOL)?;
            Ok(vec![TensorType::f32(shape.clone()), TensorType::i32(shape)])
        }
        Op::MaxPool2dGrad(options) => {
            let [x, g, at] = operands(ins)?;
            let shape = expect(pool2d(options, &x.shape), POOL)?;
            let fit = x.dtype == DType::F32
                && *g == TensorType::f32(shape.clone())
                && *at == TensorType::i32(shape);
            check(fit, "x, and a gradient and indices of its pool")?;
            Ok(vec![x.clone()])
        }
        Op::AvgPool2d(options) => {
            let [x] = floats(ins)?;
            one(DType::F32, expect(pool2d(options, &x.shape), POOL)?)
        }
        Op::AvgPool2dGrad(options) => {
            let [x, g] = floats(ins)?;
            let shape = expect(pool2d(options, &x.shape), POOL)?;
            check(g.shape == shape, "x and a gradient of its pool")?;
            Ok(vec![x.clone()])
        }
        _ => Err("an op of the dialect".to_owned()),
    }
}

/// Whether `part` is no larger than `whole` in every dimension but `d`.
fn fits_but(part: &[usize], whole: &[usize], d: usize) -> bool {
    part.len() == whole.len()
        && part
            .iter()
            .zip(whole)
            .enumerate()
            .all(|(i, (a, b))| i == d || a <= b)
}
