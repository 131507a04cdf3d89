//! Element-wise updates in place, and sums.

use burn_backend::TensorMetadata;
use burn_flex::FlexTensor;

use crate::flex::{floats, same_shape, writable};
use crate::fused::BLOCK;
use crate::lanes;
use crate::simd::vectorize;

/// `y + alpha * x` in one pass, and in place if `y` is not shared. The update of an optimizer is
/// `axpy(w, -lr, &grad)`.
///
/// # Shapes
/// `y` and `x` have one shape, which the result has too. All `f32`.
///
/// # Panics
/// If the shapes differ, or a tensor is not `f32`.
pub fn axpy(y: FlexTensor, alpha: f32, x: &FlexTensor) -> FlexTensor {
    same_shape("axpy", &y, x);
    update(y, x, |y, x| y + alpha * x)
}

/// Gradient of `relu`, computed from its output: 0 where `output ≤ 0`, and `grad` elsewhere, also where the output is NaN.
/// It is computed in place if `grad` is not shared.
///
/// # Shapes
/// `output` and `grad` have one shape, which the result has too. All `f32`.
///
/// # Panics
/// If the shapes differ, or a tensor is not `f32`.
pub fn relu_backward(output: &FlexTensor, grad: FlexTensor) -> FlexTensor {
    same_shape("relu_backward", output, &grad);
    update(
        grad,
        output,
        |grad, output| if output <= 0.0 { 0.0 } else { grad },
    )
}

/// `Σ a · b` in one pass. As in a fused program, the products are summed in 64 lanes within a block, whatever the width of
/// the processor's vectors. The sums of the blocks are added in double precision, so that the rounding error does not
/// grow with their number.
///
/// # Panics
/// If the lengths of the slices differ.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len(), "dot: lengths of the operands");
    vectorize(
        #[inline(always)]
        || {
            let blocks = a.chunks(BLOCK).zip(b.chunks(BLOCK));
            let sums = blocks.map(|(a, b)| f64::from(lanes::dot::<64>(a, b)));
            sums.fold(0.0, |all, sum| all + sum) as f32
        },
    )
}

/// Adds `weight · x` to `sums`, value by value, as a weighted mean of many tensors needs. The sums are `f64`, so that the
/// rounding error does not grow with the number of tensors.
///
/// # Panics
/// If the lengths differ.
pub fn add_weighted(sums: &mut [f64], weight: f64, x: &[f32]) {
    assert_eq!(sums.len(), x.len(), "add_weighted: lengths of the operands");
    vectorize(
        #[inline(always)]
        || {
            let pairs = sums.iter_mut().zip(x);
            pairs.for_each(|(sum, x)| *sum += weight * f64::from(*x));
        },
    );
}

/// `scale` times each sum, rounded to `f32`.
pub fn scale_sums(sums: &[f64], scale: f64) -> Vec<f32> {
    vectorize(
        #[inline(always)]
        || sums.iter().map(|x| (scale * x) as f32).collect(),
    )
}

/// `f(y, x)` for each pair of values, in place if `y` is not shared.
#[inline(always)]
fn update(y: FlexTensor, x: &FlexTensor, f: impl Fn(f32, f32) -> f32) -> FlexTensor {
    let x = x.to_contiguous();
    let x = x.storage::<f32>();
    let mut result = writable(y);
    if let Some(y) = result.try_storage_mut::<f32>() {
        vectorize(
            #[inline(always)]
            || y.iter_mut().zip(x).for_each(|(y, x)| *y = f(*y, *x)),
        );
        return result;
    }
    let y = result.storage::<f32>();
    let values = vectorize(
        #[inline(always)]
        || y.iter().zip(x).map(|(y, x)| f(*y, *x)).collect(),
    );
    floats(values, &result.shape())
}

#[cfg(test)]
mod tests {
    use burn_backend::TensorData;

    use super::*;

    fn tensor(values: Vec<f32>, shape: [usize; 2]) -> FlexTensor {
        FlexTensor::from_data(TensorData::new(values, shape))
    }

    #[test]
    fn axpy_updates_in_place_or_copies() {
        let y = tensor((0..50).map(|v| v as f32).collect(), [5, 10]);
        let x = tensor(vec![2.0; 50], [5, 10]);
        let kept = y.clone();
        let shared = axpy(y, 0.5, &x);
        assert_eq!(shared.storage::<f32>()[49], 50.0);
        assert_eq!(kept.storage::<f32>()[49], 49.0);
        let before = shared.storage::<f32>().as_ptr();
        let unique = axpy(shared, -0.5, &x);
        assert_eq!(unique.storage::<f32>().as_ptr(), before);
        assert_eq!(unique.storage::<f32>(), kept.storage::<f32>());
    }

    #[test]
    fn sums_are_of_double_precision() {
        // The length, 37, is not a multiple of any vector. In `f32`, 2^24 + 1 would be rounded to 2^24.
        let mut sums = vec![f64::from(1 << 24); 37];
        let x: Vec<f32> = (0..37).map(|v| v as f32).collect();
        add_weighted(&mut sums, 0.5, &x);
        for (i, sum) in sums.iter().enumerate() {
            assert_eq!(*sum, 16_777_216.0 + 0.5 * i as f64);
        }
        assert_eq!(scale_sums(&sums, 0.25)[36], 4_194_308.5);
    }

    #[test]
    fn dot_sums_lanes_and_rest() {
        let a: Vec<f32> = (0..200).map(|v| v as f32).collect();
        let b = vec![0.5; 200];
        assert_eq!(dot(&a, &b), 9950.0);
        assert_eq!(dot(&a[..3], &b[..3]), 1.5);
        assert_eq!(dot(&[], &[]), 0.0);
        // In single precision, a sum of so many small products would stop growing.
        let many = vec![0.003_f32; 3_000_000];
        let exact = f64::from(many[0]) * f64::from(many[0]) * many.len() as f64;
        assert!((f64::from(dot(&many, &many)) / exact - 1.0).abs() < 1e-6);
    }

    #[test]
    fn views_keep_their_logical_values() {
        let y = tensor((0..6).map(|v| v as f32).collect(), [2, 3]).transpose(0, 1);
        let x = tensor(vec![1.0; 8], [4, 2]).narrow(0, 0, 3);
        let sum = axpy(y, 1.0, &x);
        assert_eq!(sum.shape().to_vec(), vec![3, 2]);
        assert_eq!(sum.storage::<f32>(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }

    #[test]
    fn relu_passes_the_gradient_of_outputs_that_are_not_clamped() {
        let output = tensor(vec![0.0, 1.0, f32::NAN, 3.0], [2, 2]);
        let grad = relu_backward(&output, tensor(vec![5.0, 6.0, 7.0, f32::INFINITY], [2, 2]));
        assert_eq!(grad.storage::<f32>(), [0.0, 6.0, 7.0, f32::INFINITY]);
    }
}
