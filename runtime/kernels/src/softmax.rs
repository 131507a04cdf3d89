//! The logarithm of the softmax, for about a thousand values at a time, which stay in the first-level cache.

use burn_backend::TensorMetadata;
use burn_flex::FlexTensor;

use crate::flex::writable;
use crate::lanes;
use crate::math::{exp, log};
use crate::simd::vectorize;

/// The number of values that are computed together. They are those of many rows, because the exponentials of a row with
/// few classes would not fill a vector.
const BLOCK: usize = 1024;

/// `x - ln Σ e^x` along the last dimension, in place if `x` is not shared.
///
/// # Shapes
/// `x: [.., classes]`, which the result has too. `f32`.
///
/// # Panics
/// If `x` is not `f32`.
pub fn log_softmax(x: FlexTensor) -> FlexTensor {
    let classes = x.shape().last().copied().unwrap_or(1).max(1);
    let mut y = writable(x);
    let values = y.storage_mut::<f32>();
    vectorize(
        #[inline(always)]
        || {
            let rows = (values.len() / classes).clamp(1, (BLOCK / classes).max(1));
            let (mut powers, mut sums) = (vec![0.0; rows * classes], vec![0.0; rows]);
            for block in values.chunks_mut(rows * classes) {
                for row in block.chunks_exact_mut(classes) {
                    let max = lanes::max(row);
                    row.iter_mut().for_each(|x| *x -= max);
                }
                for (power, x) in powers.iter_mut().zip(&*block) {
                    *power = exp(*x);
                }
                for (sum, row) in sums.iter_mut().zip(powers.chunks_exact(classes)) {
                    *sum = lanes::sum::<16>(row);
                }
                sums.iter_mut().for_each(|sum| *sum = log(*sum));
                for (row, log) in block.chunks_exact_mut(classes).zip(&sums) {
                    row.iter_mut().for_each(|x| *x -= log);
                }
            }
        },
    );
    y
}

#[cfg(test)]
mod tests {
    use burn_backend::TensorData;
    use burn_backend::ops::ActivationOps;
    use burn_flex::Flex;

    use super::*;

    fn tensor(shape: [usize; 2], scale: f32) -> FlexTensor {
        let values: Vec<f32> = (0..shape[0] * shape[1])
            .map(|i| ((i * 7919) % 1009) as f32 / 1009.0 * scale - scale / 3.0)
            .collect();
        FlexTensor::from_data(TensorData::new(values, shape))
    }

    fn close(ours: &FlexTensor, theirs: &FlexTensor) {
        assert_eq!(ours.shape(), theirs.shape());
        let theirs = theirs.to_contiguous();
        for (a, b) in ours.storage::<f32>().iter().zip(theirs.storage::<f32>()) {
            assert!((a - b).abs() <= 2e-6 * b.abs().max(1.0), "{a} and {b}");
        }
    }

    #[test]
    fn rows_agree_with_burn() {
        for shape in [[1, 1], [10, 10], [64, 10], [300, 7], [3, 1500], [17, 100]] {
            for scale in [1.0, 300.0] {
                let x = tensor(shape, scale);
                let y = log_softmax(x.clone());
                close(&y, &Flex::log_softmax(x.clone(), 1));
            }
        }
    }

    #[test]
    fn views_and_empty_tensors() {
        let x = tensor([6, 5], 3.0).transpose(0, 1).narrow(1, 1, 3);
        close(&log_softmax(x.clone()), &log_softmax(x.to_contiguous()));
        for shape in [[0, 3], [3, 0]] {
            let x = tensor(shape, 1.0);
            assert_eq!(log_softmax(x.clone()).shape(), x.shape());
        }
    }

    #[test]
    fn a_tensor_that_nobody_shares_is_overwritten() {
        let x = tensor([4, 3], 1.0);
        let (kept, at) = (x.clone(), x.storage::<f32>().as_ptr());
        assert_ne!(log_softmax(x).storage::<f32>().as_ptr(), at);
        assert_eq!(log_softmax(kept).storage::<f32>().as_ptr(), at);
    }
}
