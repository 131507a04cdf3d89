//! Checks whether tensors hold only finite numbers.
//!
//! In host memory each number is tested. On a GPU the numbers are summed, and the host waits for the sum
//! alone: the sum is finite only if all its terms are. A comparison on the GPU would not do, because shader
//! languages may assume that no operand is NaN.

use burn::tensor::DispatchTensor;
use burn_backend::ops::FloatTensorOps;
use burn_backend::{Scalar, TensorMetadata};
use burn_dispatch::Dispatch;
use fedround_ir::tensor::DType;

use super::host::{is_host, values};
use super::{dtype, floats, read_all};
use crate::device::ExecError;

/// The number of values that are tested before the loop checks whether one of them was not finite.
const BLOCK: usize = 4096;

/// The factor of the values before they are summed, 2⁻⁶⁴. It makes the largest finite numbers so small that
/// no device holds enough of them for the sum to overflow. The products are exact or tend to 0.
const SCALE: f64 = 1.0 / 18_446_744_073_709_551_616.0;

/// The exponent bits of an `f32`. All of them are set in infinities and NaNs, and in no other number.
const EXPONENT: u32 = 0x7f80_0000;

/// Whether all numbers of the tensors are finite. Integers and masks always are.
///
/// # Errors
///
/// A device that holds some of them has failed.
pub fn all_finite<'t>(
    tensors: impl IntoIterator<Item = &'t DispatchTensor>,
) -> Result<bool, ExecError> {
    match finite_sums(tensors) {
        Some(sums) => Ok(read_all(sums)?.iter().all(|sum| finite(sum))),
        None => Ok(false),
    }
}

/// One sum for each GPU that holds some of the tensors. The sum is finite only if all numbers of the tensors
/// on that GPU are. The caller reads the sums together with other values and tests them with [`finite`].
/// Gives `None` if a number in host memory is not finite.
pub fn finite_sums<'t>(
    tensors: impl IntoIterator<Item = &'t DispatchTensor>,
) -> Option<Vec<DispatchTensor>> {
    let mut sums: Vec<DispatchTensor> = vec![];
    for t in tensors {
        if dtype(t) != DType::F32 {
            continue;
        }
        if let Some(values) = floats(t) {
            if !finite(values) {
                return None;
            }
        } else if is_host(t) {
            if !values(t).is_none_or(|values| finite(&values)) {
                return None;
            }
        } else {
            let scaled = Dispatch::float_mul_scalar(t.clone(), Scalar::Float(SCALE));
            add_to_device(&mut sums, Dispatch::float_sum(scaled));
        }
    }
    Some(sums)
}

/// Adds `sum` to the sum on the same device, or appends it as the first one of its device.
fn add_to_device(sums: &mut Vec<DispatchTensor>, sum: DispatchTensor) {
    match sums.iter_mut().find(|total| total.device() == sum.device()) {
        Some(total) => *total = Dispatch::float_add(total.clone(), sum),
        None => sums.push(sum),
    }
}

/// Whether all values are finite.
pub fn finite(values: &[f32]) -> bool {
    // The loop over a block has no early exit, so the compiler can vectorize it.
    let has_non_finite = |block: &[f32]| {
        let non_finite = |x: &f32| x.to_bits() & EXPONENT == EXPONENT;
        block.iter().fold(false, |any, x| any | non_finite(x))
    };
    !values.chunks(BLOCK).any(has_non_finite)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{from_floats, from_ints};

    #[test]
    fn one_number_that_is_not_finite_is_found_anywhere() {
        let device = Default::default();
        let with = |at: usize, x: f32| {
            let mut values = vec![f32::MAX; 3 * BLOCK + 7];
            values[at] = x;
            from_floats(values, &[3 * BLOCK + 7], &device)
        };
        let good = [with(0, f32::MIN), with(1, 0.0), with(2, f32::MIN_POSITIVE)];
        assert!(all_finite(&good).unwrap());
        assert!(all_finite(&[]).unwrap());
        assert!(all_finite(&[from_ints(vec![i32::MAX], &[1], &device)]).unwrap());
        for at in [0, BLOCK - 1, BLOCK, 3 * BLOCK + 6] {
            for x in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let all = [good[0].clone(), with(at, x)];
                assert!(!all_finite(&all).unwrap(), "{x} at {at}");
            }
        }
    }

    #[test]
    fn views_are_tested_too() {
        let t = from_floats(vec![1.0, f32::NAN, 2.0, 3.0], &[2, 2], &Default::default());
        let view = Dispatch::float_transpose(t);
        assert!(!all_finite(&[view]).unwrap());
    }
}
